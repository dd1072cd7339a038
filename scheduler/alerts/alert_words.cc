#include "scheduler/alerts/alert_words.h"

namespace tidemark {
namespace {

constexpr AlertWords kWords[] = {
    {"run_failed", "run failed", "运行失败",
     "到任务的下一次触发时，或应用的新版本注册时，会自动重新打开该业务日期。",
     "tidemark run rerun {run}"},
    {"run_held", "run does not stop", "运行未按要求停止",
     "它可能仍在执行，因此在其执行器报告结束之前，不会再次打开；停止命令会自动重发。",
     "tidemark run get {run}"},
    {"run_long", "run takes long", "运行时间过长", "仍有心跳，不会被打断。",
     "tidemark run get {run}"},
    {"run_reaped", "run reaped", "运行失联，已判为失败",
     "它可能仍在执行，因此在该进程回报、或同一执行器的新进程注册之前，不会再次打开。",
     "tidemark run get {run}"},
    {"no_executor", "no executor", "没有可用的执行器",
     "合适的执行器上线后一秒内自动开始，不消耗重试次数。", "tidemark executor list"},
    {"executor_lost", "executor lost", "执行器失联",
     "它的运行在失联时限过后，可安全重试的会在别处重试。", "tidemark executor list"},
    {"gap_blocked", "catch-up blocked", "补跑受阻",
     "按严格顺序，后面的日期都在等它；它成功后其余日期自动继续。",
     "tidemark job trigger {job} --biz-date {date}"},
    {"gap_held", "gap held", "缺口过长，等待人工决定", "在人工决定之前，什么都不会运行。",
     "tidemark watermark list {job}"},
    {"gap_expired", "dates expired", "业务日期已过期", "这些日期不会再自动运行。",
     "tidemark watermark list {job}"},
    {"catch_up_done", "catch-up done", "补跑完成", "无需处理。", "tidemark watermark list {job}"},
    {"date_missed", "date missed", "业务日期未按时完成", "如能自动补跑，会按从旧到新的顺序补上。",
     "tidemark watermark list {job}"},
    {"job_error", "job in error", "任务定义出错", "只影响这一个任务，修正定义后自动恢复。",
     "tidemark job apply -f FILE"},
    {"job_paused", "job paused", "任务仍处于暂停状态", "在恢复之前不会运行。",
     "tidemark job resume {job}"},
    {"clock_leap", "clock leap", "数据库时钟跳变", "再次核对时钟一致后，几秒内自动继续触发。",
     "timedatectl"},
    {"app_down", "no executor of an app", "应用没有在线的执行器",
     "到期的运行会等待，执行器上线后一秒内自动开始。", "tidemark executor list"},
    {"executor_id_shared", "two processes share an id", "两个进程使用同一个执行器编号",
     "先注册的继续工作，另一个等待。", "tidemark executor list"},
    {"late_success", "late success", "放弃之后又报告成功",
     "该报告不改变任何状态，以之后的结果为准。", "tidemark run get {run}"},
    {"commits_lost", "commits lost in a fail-over", "数据库切换丢失了提交",
     "正在运行的已恢复跟踪；切换前几秒的指令可能丢失，请核对。", "tidemark run get {run}"},
    {"lock_refused", "lock refused", "锁被占用，运行推迟", "会按退避间隔自动再试，不消耗重试次数。",
     "tidemark run get {run}"},
    {"fires_skipped", "fires skipped", "部分触发被跳过", "跳过的触发不会补跑。",
     "tidemark job get {job}"},
    {"cursor_ahead", "cursor ahead of now", "触发游标超前于当前时间",
     "在游标时间到达之前，该任务不会触发。", "tidemark job get {job}"},
    {"calendar_ended", "calendar ended", "日历已用尽", "日历没有日期后任务不再到期。",
     "tidemark calendar list"},
    {"backfill_finished", "backfill finished", "回填结束", "无需处理。",
     "tidemark watermark list {job}"},
    {"backfill_stopped", "backfill stopped", "回填已停止", "按严格顺序，失败的日期之后不再继续。",
     "tidemark backfill list"},
    {"shards_missing", "shards missing", "分片记录缺失", "在恢复之前，不会调度任何任务。",
     "tidemark cluster status"},
    {"lease_damaged", "lease rows changed by hand", "租约记录被人为改动",
     "节点会自行重新开始；若告警未恢复，请按详情处理。", "tidemark cluster status"},
    {"channel_failing", "alert channel fails", "告警通道发送失败",
     "未送达的告警会继续重试，通道恢复后自动补发。", ""},
    {"check_missing", "daily check without a verdict", "每日核对没有结论",
     "有了结论后自动恢复，在此之前暂停对外心跳。", "tidemark cluster status"},
    {"check_disagrees", "daily check is wrong", "每日核对的结论有误",
     "两者一致后自动恢复，在此之前暂停对外心跳。", "tidemark watermark list {job}"},
    {"test", "test message", "测试消息", "无需处理。", ""},
};

}  // namespace

const AlertWords* FindAlertWords(std::string_view kind) {
  for (const AlertWords& words : kWords) {
    if (words.kind == kind) return &words;
  }
  return nullptr;
}

}  // namespace tidemark
