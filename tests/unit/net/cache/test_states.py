import subprocess
import sys

LOOK = """
import sys
import headgate.net.cache.rules
print("redis" in sys.modules)
import redis
print(redis.__name__, sys.modules["redis"] is redis)
"""


def test_the_rules_of_caching_bring_no_redis_along_and_leave_it_to_others():
    said = subprocess.run(
        [sys.executable, "-c", LOOK], capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stdout.split() == ["False", "redis", "True"]
