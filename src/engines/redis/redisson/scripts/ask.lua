-- Asks the holder of the lock to release it soon. Only holds of Tyer can be asked: Redisson has no such message.
--
-- KEYS[1]  the name
-- ARGV[1] the common prefix of inboxes, before the nonce ARGV[2] reason, for people
--
-- Answers how many holders were asked, as digits
local asked = 0
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  -- As field_of() in layout.cpp writes it.
  local a, b, c, d = string.match(field, '^(%x%x%x%x%x%x%x%x)%-(%x%x%x%x)%-8(%x%x%x)%-8(%x)00%-000074796572:')
  if a then
    redis.pcall('PUBLISH', ARGV[1] .. a .. b .. c .. d, 'a' .. field .. '\n' .. ARGV[2])
    asked = asked + 1
  end
end
return string.format('%d', asked)
