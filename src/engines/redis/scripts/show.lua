-- Who holds a name and who waits for it, for people. Writes nothing.
--
-- KEYS[1]  state, as described in holders.lua
-- ARGV[1]  most waiters to show
--
-- Answers a flat list, seven words for each hold in the order of the grants, then for each waiter in the order of the queue:
-- h or w, id, mode (x s p), ms left, token part (0 for a waiter), slots, owner. Empty if the key holds something else; d
-- alone as in whole.lua.

-- cluster: -- include whole.lua
-- include slots.lua
-- include holders.lua
local state = redis.pcall('GET', KEYS[1])
if type(state) == 'table' and not string.find(state.err, 'WRONGTYPE') then return state end
local r = read(KEYS[1], state)
if not r then return {} end
-- cluster: if torn(r.key, r.waits, r.mode ~= 'x') then return {'d'} end
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local words = {}
local function add_words(kind, id, mode, ends, part, slots, owner)
  local entry = {kind, id, mode, string.format('%d', math.ceil((ends - now) / 1000)), string.format('%.0f', part), slots, owner}
  for _, word in ipairs(entry) do words[#words + 1] = word end
end

local holds = find_all(r)
table.sort(holds, function(a, b) return a.part < b.part end)
for _, hold in ipairs(holds) do
  local ends = math.min(hold.ends, now + (hold.lease - hold.delay) * 1000)
  if ends > now then add_words('h', hold.id, r.mode, ends, hold.part, hold.slots, hold.owner) end
end

local ids = r.waits and call('ZRANGE', r.queue, 0, ARGV[1] - 1) or {}
local places = #ids > 0 and call('HMGET', r.waiters, unpack(ids))
for i, id in ipairs(ids) do
  if places[i] then
    local ends, ms, mode = struct.unpack('>I7I6c1', places[i])
    if ends > now then add_words('w', id, mode, math.min(ends, now + ms * 1000), 0, '', string.sub(places[i], 23)) end
  end
end
return words
