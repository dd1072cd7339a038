// Bench drain|herd RUNS POOL: clustered Quartz on PostgreSQL. Keeps no history: a trigger that has
// fired for the last time is deleted. The database's JDBC URL is in BENCH_JDBC_URL.
import java.io.FileInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Date;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

public class Bench {
  static final ConcurrentLinkedQueue<Long> ENTERED = new ConcurrentLinkedQueue<>();

  public static class Work implements Job {
    @Override
    public void execute(JobExecutionContext context) {
      ENTERED.add(System.currentTimeMillis());
    }
  }

  static Scheduler scheduler(int pool, String url, String user) throws Exception {
    Properties properties = new Properties();
    try (InputStream in = new FileInputStream(System.getProperty("bench.properties"))) {
      properties.load(in);
    }
    properties.setProperty("org.quartz.threadPool.threadCount", "" + pool);
    properties.setProperty("org.quartz.scheduler.batchTriggerAcquisitionMaxCount", "" + pool);
    properties.setProperty("org.quartz.dataSource.bench.maxConnections", "" + (pool + 3));
    properties.setProperty("org.quartz.dataSource.bench.URL", url);
    properties.setProperty("org.quartz.dataSource.bench.user", user);
    properties.setProperty("org.quartz.dataSource.bench.password", "");
    return new StdSchedulerFactory(properties).getScheduler();
  }

  static void makeTables(Connection sql) throws Exception {
    String path = "/org/quartz/impl/jdbcjobstore/tables_postgres.sql";
    try (InputStream in = Scheduler.class.getResourceAsStream(path);
        Statement statement = sql.createStatement()) {
      statement.execute(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  static int left(Connection sql) throws Exception {
    try (Statement statement = sql.createStatement();
        ResultSet rows = statement.executeQuery("SELECT count(*) FROM qrtz_triggers")) {
      rows.next();
      return rows.getInt(1);
    }
  }

  static void add(Scheduler scheduler, int runs, Date due) throws Exception {
    JobDetail job = JobBuilder.newJob(Work.class).withIdentity("work").storeDurably().build();
    Set<Trigger> triggers = new HashSet<>();
    for (int i = 0; i < runs; ++i) {
      triggers.add(TriggerBuilder.newTrigger().withIdentity("t" + i).forJob("work").startAt(due).build());
    }
    scheduler.scheduleJobs(Map.of(job, triggers), true);
  }

  public static void main(String[] arguments) throws Exception {
    boolean drain = arguments[0].equals("drain");
    int runs = Integer.parseInt(arguments[1]);
    int pool = Integer.parseInt(arguments[2]);
    String url = System.getenv("BENCH_JDBC_URL");
    Connection sql = DriverManager.getConnection(url, "tidemark", "");
    makeTables(sql);
    Scheduler scheduler = scheduler(pool, url, "tidemark");
    long lead = drain ? -1000 : 8000 + runs * 10L;
    long due = System.currentTimeMillis() + lead;
    long begin = System.nanoTime();
    if (!drain) scheduler.start();
    add(scheduler, runs, new Date(due));
    if (!drain && System.currentTimeMillis() > due) {
      throw new IllegalStateException("the herd was due before all of it was added");
    }
    double addSeconds = (System.nanoTime() - begin) * 1e-9;
    begin = System.nanoTime();
    if (drain) scheduler.start();
    while (ENTERED.size() < runs || left(sql) > 0) Thread.sleep(20);
    double seconds = (System.nanoTime() - begin) * 1e-9;
    scheduler.shutdown(true);
    if (drain) {
      System.out.printf("{\"pool\": %d, \"runs\": %d, \"seconds\": %.3f, \"per_second\": %.1f, "
          + "\"add_seconds\": %.3f, \"per_second_with_add\": %.1f}%n",
          pool, runs, seconds, runs / seconds, addSeconds, runs / (seconds + addSeconds));
    } else {
      long[] late = ENTERED.stream().mapToLong(at -> at - due).toArray();
      Arrays.sort(late);
      System.out.printf("{\"pool\": %d, \"runs\": %d, \"lateness_p50\": %d, \"lateness_p99\": %d, "
          + "\"lateness_max\": %d}%n",
          pool, runs, late[runs / 2], late[(int) Math.ceil(runs * 0.99) - 1], late[runs - 1]);
    }
    System.exit(0);
  }
}
