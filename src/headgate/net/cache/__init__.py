"""The HTTP cache: RFC 9111 for one user at a time, shared by all processes of a project."""

from headgate.net.cache.cache import HttpCache
from headgate.net.cache.demand import Custody
from headgate.net.cache.inquiry import Send
from headgate.net.cache.reply import CacheReply, Unkept

__all__ = ["CacheReply", "Custody", "HttpCache", "Send", "Unkept"]
