-- Compares and swaps many gates at one moment, on the server's clock.
--
-- KEYS    the index of all gates; then every gate named, those with a proposal first
-- ARGV    ticket, sender, channel, number of proposals;
--         then for each proposal: name, version it was made from, state, '1' if urgent
-- answer  UTC microseconds; then for each gate: {version, state, ticket}
--
-- A gate without a state is unknown or was forgotten, which looks the same from outside.

local ticket, sender, channel, proposals = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local time = redis.call('TIME')
local now_us = time[1] .. string.format('%06d', time[2])
local rang = false

local function look(gate)
    local found = redis.call('HMGET', gate, 'version', 'state', 'ticket')
    if not found[2] then
        return {'0', '', found[3] or ''}
    end
    return found
end

for i = 1, proposals do
    local gate = KEYS[1 + i]
    local name, version, state, urgent = unpack(ARGV, 4 * i + 1, 4 * i + 4)
    local known = look(gate)
    if known[1] == version then
        redis.call('HINCRBY', gate, 'version', 1)
        redis.call('HSET', gate, 'state', state, 'ticket', ticket, 'updated_at', now_us)
        redis.call('ZADD', KEYS[1], 0, name)
        rang = rang or urgent == '1'
    end
end

if rang then
    redis.call('PUBLISH', channel, sender)
end

local answer = {now_us}
for i = 2, #KEYS do
    answer[i] = look(KEYS[i])
end
return answer
