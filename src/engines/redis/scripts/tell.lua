-- For the scripts that include this file.

-- Sends a message to the client that made this id: the first half of an id is that client's nonce. It is only a hint, so it
-- is no failure if the server does not allow it (ACL): the client asks again by itself.
--
-- In a cluster PUBLISH goes to every node. Frequent messages go to a sharded channel with the name as its tag, so they stay
-- in the shard of the name.
local function tell(id, kind, words)
  local prefix = string.match(KEYS[1], '^[^{]*')
  local inbox = prefix .. 'inbox:' .. string.format('%02x%02x%02x%02x%02x%02x%02x%02x', string.byte(id, 1, 8))
  -- cluster: if kind == 'w' then return redis.pcall('SPUBLISH', inbox .. string.sub(KEYS[1], #prefix + 1), kind .. id) end
  redis.pcall('PUBLISH', inbox, kind .. id .. (words or ''))
end
