from headgate.engine.policy import WorkerPolicy


def test_a_worker_looks_often_enough_to_obey_within_a_second():
    """A look takes time as well, and what runs then has to end."""
    assert WorkerPolicy().poll_s <= 0.25
