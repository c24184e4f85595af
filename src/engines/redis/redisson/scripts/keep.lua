-- Extends holds. Never re-creates, never shortens.
--
-- KEYS[i]    the name of the i-th hold
-- ARGV[i]    its field
-- ARGV[#KEYS + 1]  ttl, ms; 0: only tells
--
-- Answers one letter per hold: h holding | g gone
local ttl = ARGV[#KEYS + 1] + 0
local fates = {}
for i, key in ipairs(KEYS) do
  -- pcall: an error for one name must not affect the others.
  local mine = redis.pcall('HEXISTS', key, ARGV[i])
  if type(mine) == 'table' and not string.find(mine.err, 'WRONGTYPE') then return mine end
  if mine == 1 and ttl > 0 and redis.call('PTTL', key) < ttl then redis.call('PEXPIRE', key, ttl) end
  fates[i] = mine == 1 and 'h' or 'g'
end
return table.concat(fates)
