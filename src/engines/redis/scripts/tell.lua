-- For the scripts that include this file.

-- A message to the client that made this id: the first half of an id is that client's nonce. It is only a hint, so a server
-- that does not allow it (ACL) is no failure: the client looks again by itself.
--
-- In a cluster PUBLISH goes to every node. What is said often goes to a channel that has the name as its tag, so it belongs to
-- the shard of the name and goes nowhere else.
local function tell(id, kind, words)
  local prefix = string.match(KEYS[1], '^[^{]*')
  local inbox = prefix .. 'inbox:' .. string.format('%02x%02x%02x%02x%02x%02x%02x%02x', string.byte(id, 1, 8))
  -- cluster: if kind == 'w' then return redis.pcall('SPUBLISH', inbox .. string.sub(KEYS[1], #prefix + 1), kind .. id) end
  redis.pcall('PUBLISH', inbox, kind .. id .. (words or ''))
end
