"""The HTTP cache: RFC 9111 for one user at a time, shared by all processes of a project."""

from headgate.net.cache.cache import HttpCache
from headgate.net.cache.fetch import Send
from headgate.net.cache.reply import CacheReply, Unkept
from headgate.net.cache.request import CallerBody

__all__ = ["CacheReply", "CallerBody", "HttpCache", "Send", "Unkept"]
