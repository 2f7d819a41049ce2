import test from 'ava'
import { valuesNamed } from '../../../../core/base/words/named-values.js'

const named = (name: string, value: string): string[] => [...new Set(valuesNamed(name, value))]

test('mcp-4, hooks-36: a name that ends in `key` makes no secret of what is no key', (t) => {
  for (const [name, value] of [
    ['MODE_KEY', 'production'],
    ['HOT_KEY', 'escape'],
    ['MONKEY', 'banana42'],
    ['TURKEY', 'istanbul34'],
    ['HOTKEY', 'ctrl+shift+p'],
    ['CACHE_KEY', 'user:profile'],
    ['LICENSE_KEY', 'Apache-2.0'],
    ['ENCRYPTION_KEY', 'aes256'],
    ['PUBLIC_KEY', 'ssh-ed25519'],
    ['KEY', 'ssh-ed25519'],
    ['key', 'filename'],
    ['primary-key', 'identifier'],
    ['AUTH', 'disabled'],
    ['token', 'string'],
    ['SSH_KEY', '/home/ann/.ssh/id'],
    ['TOKEN', '$GITHUB_TOKEN'],
    ['MAX_TOKENS', '4096'],
  ] as const)
    t.deepEqual(named(name, value), [], `${name}=${value}`)
})

test('mcp-4, hooks-36: a key is one by its name or by its value, and a password is one as a word too', (t) => {
  for (const [name, value] of [
    ['KEY', 'canary-1~!'],
    ['OPENAI_KEY', 'q9Lm2kPz7x'],
    ['STRIPE_KEY', '0123456789abcdef'],
    ['ENCRYPTION_KEY', 'walnuts and honey'],
    ['API_KEY', 'walnuts'],
    ['PASSWORD', 'walnuts'],
    ['X-Auth', 'walnuts'],
  ] as const)
    t.true(named(name, value).includes(value), `${name}=${value}`)
})

test('mcp-4, hooks-36: of a value each part is known that may be said by itself', (t) => {
  t.deepEqual(named('Authorization', 'Bearer walnuts'), ['Bearer walnuts', 'walnuts'])
  t.deepEqual(named('auth', 'bob:walnuts'), ['bob:walnuts', 'walnuts'])
  t.deepEqual(named('Cookie', 'sid=walnuts; id=chestnut'), ['sid=walnuts; id=chestnut', 'walnuts', 'chestnut'])
  t.deepEqual(named('PASSWORDS', 'walnuts,chestnut'), ['walnuts', 'chestnut'])
})
