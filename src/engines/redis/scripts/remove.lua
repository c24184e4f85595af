-- Takes exactly this id out of the state or the queue of KEYS[1], then lets the lock go to whoever is next, for the scripts
-- that include this file after queue.lua. Answers what the id was.
local function remove(state, id)
  local queue, waiters = KEYS[2] or KEYS[1] .. 'q', KEYS[3] or KEYS[1] .. 'w'
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  local flags, expiry, holder, _ = 0, 0, ''
  if state then flags, expiry, _, holder = struct.unpack('>BxxxxxI7I7c16', state, 3) end
  local was = 'g'
  if flags % 2 == 1 and holder == id then
    was = 'h'
    expiry = 0
  elseif leave(queue, waiters, id) == 1 then
    was = 'w'
  end
  if state and expiry <= now and (was == 'h' or flags > 3) then pass_on(KEYS[1], state, queue, waiters, now) end
  return was
end
