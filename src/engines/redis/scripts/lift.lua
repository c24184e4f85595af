-- Raises the token part of an exclusive hold, for a lock on several servers: they agree on the largest part of a majority.
--
-- KEYS[1]  state, as described in holders.lua
-- ARGV[1]  id, 16 bytes
-- ARGV[2]  packed '>I7': the part it is to have
--
-- Answers  h it has that part, now or since an earlier call | g the hold is not this id's, or its part is larger already
--          c the key holds something else
--
-- The last part in the state is that of the only holder, so a part that is not below belongs to another attempt. The rest
-- of the state does not change.
local state = redis.call('GET', KEYS[1])
if not state then return 'g' end
if #state < 44 or string.sub(state, 1, 2) ~= 'T1' then return 'c' end
local flags, mode, expiry, last = struct.unpack('>Bc1xxxxI7I7', state, 3)
local part = struct.unpack('>I7', ARGV[2])
local is_mine = mode == 'x' and flags < 16 and flags % 4 == 1 and string.sub(state, 29, 44) == ARGV[1]
if not is_mine or part < last or part > 9007199254740991 then return 'g' end
local time = redis.call('TIME')
local delay = flags > 7 and struct.unpack('>I6', state, 45) * 1000 or 0
if expiry - delay <= time[1] * 1000000 + time[2] then return 'g' end
if part > last then
  redis.call('SET', KEYS[1], string.sub(state, 1, 15) .. ARGV[2] .. string.sub(state, 23), 'KEEPTTL')
end
return 'h'
