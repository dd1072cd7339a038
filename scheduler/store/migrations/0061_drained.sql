-- needs: 60
-- Each node looks each second which executors operators drained, whoever took the order.
CREATE INDEX executor_drained ON executor (executor_id) WHERE drained;
