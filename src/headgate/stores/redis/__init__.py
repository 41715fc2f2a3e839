"""A ledger for many hosts: what is known of each limit, on a Redis server."""

from headgate.stores.redis.limits import RedisLimits

__all__ = ["RedisLimits"]
