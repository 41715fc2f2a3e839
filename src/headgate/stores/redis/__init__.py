"""A ledger for many hosts on a Redis server: the state of each limit."""

from headgate.stores.redis.limits import RedisLimits

__all__ = ["RedisLimits"]
