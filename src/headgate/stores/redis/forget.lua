-- Drops the state of one gate, and keeps its version: were that to start again, an old proposal
-- might fit by chance.
--
-- KEYS    the index of all gates; the gate
-- ARGV    ticket, sender, channel, name
-- answer  1 if there was something to forget

local ticket, sender, channel, name = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

if redis.call('HEXISTS', KEYS[2], 'state') == 0 then
    return redis.call('HGET', KEYS[2], 'ticket') == ticket and 1 or 0
end
redis.call('HINCRBY', KEYS[2], 'version', 1)
redis.call('HDEL', KEYS[2], 'state')
redis.call('HSET', KEYS[2], 'ticket', ticket)
redis.call('ZREM', KEYS[1], name)
redis.call('PUBLISH', channel, sender)
return 1
