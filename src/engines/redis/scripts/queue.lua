-- The queue of a name, for the scripts that include this file.
--
-- The queue is a sorted set of ids by ticket; `waiters` is a hash id -> '>I7I6c1' expiry of the place (server µs), place
-- ms, mode, then the owner. Both exist only while somebody waits, and both expire by themselves.

-- A message to the client that made this id: the first half of an id is that client's nonce. It is only a hint, so a server
-- that does not allow it (ACL) is no failure: the client looks again by itself.
local function tell(id, kind, words)
  local prefix = string.match(KEYS[1], '^[^{]*')
  redis.pcall('PUBLISH', prefix .. 'inbox:' .. string.format('%02x%02x%02x%02x%02x%02x%02x%02x', string.byte(id, 1, 8)),
              kind .. id .. (words or ''))
end

local function leave(queue, waiters, id)
  redis.call('ZREM', queue, id)
  return redis.call('HDEL', waiters, id)
end

-- The first waiter whose place has not expired, and whether others stand behind it. The dead before it are removed, but
-- at most 10000 in one go: a script holds up the whole server. (nil, true): there may be a living one further back.
local function first_waiter(queue, waiters, now)
  local look = 2
  for _ = 1, 11 do
    local ids = redis.call('ZRANGE', queue, '0', look - 1)
    if #ids == 0 then return nil, false end
    local places = redis.call('HMGET', waiters, unpack(ids))
    local dead = {}
    for i, id in ipairs(ids) do
      local expiry, place = 0, 0
      if places[i] then expiry, place = struct.unpack('>I7I6', places[i]) end
      if expiry > now then
        if #dead > 0 then
          redis.call('ZREM', queue, unpack(dead))
          redis.call('HDEL', waiters, unpack(dead))
        end
        return {id = id, place = place, owner = string.sub(places[i], 15)}, ids[i + 1] ~= nil or #ids == look
      end
      dead[i] = id
    end
    redis.call('ZREM', queue, unpack(dead))
    redis.call('HDEL', waiters, unpack(dead))
    look = 1000
  end
  return nil, true
end

-- The head becomes the holder, at first only for as long as its place is good: it has to claim. The token part is made
-- here, since the lock changes hands here. The key keeps the time to live that a claim or a renewal gave it.
local function hand_over(key, state, queue, waiters, head, more, now)
  local flags, expiry = more and 7 or 3, now + head.place * 1000
  local part = math.max(struct.unpack('>I7', state, 16) + 1, now)
  leave(queue, waiters, head.id)
  redis.call('SET', key, 'T1' .. string.char(flags) .. 'x' .. string.sub(state, 5, 8) .. struct.pack('>I7I7', expiry, part) ..
             head.id .. head.owner, 'KEEPTTL')
  tell(head.id, 'w')
  return flags, expiry
end

-- Nobody holds the lock any more: the next living waiter gets it, or it is free.
local function pass_on(key, state, queue, waiters, now)
  local head, more = first_waiter(queue, waiters, now)
  if head then
    hand_over(key, state, queue, waiters, head, more, now)
    return head.id
  end
  redis.call('SET', key, (more and 'T1\4x' or 'T1\0x') .. string.sub(state, 5, 8) .. string.rep('\0', 7) ..
             string.sub(state, 16, 22) .. string.rep('\0', 16), 'KEEPTTL')
end
