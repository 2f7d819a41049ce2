import test from 'ava'
import { isSecretName, isSecretSetting, tellsOfSecret } from '../../../../core/base/words/secret-names.js'

test('the names of secrets are known, and those of other fields are not', (t) => {
  for (const name of [
    'password',
    'api_key',
    'accessToken',
    'DB_PASSWORD',
    'client-secret',
    'secret',
    'x-api-key',
    'token',
  ])
    t.true(isSecretName(name), name)
  for (const name of ['prompt_tokens', 'secretary', 'key', 'path', 'passwords_changed', 'name'])
    t.false(isSecretName(name), name)
})

test('names of variables and headers that tell of a secret', (t) => {
  for (const name of [
    'KEY',
    'API_TOKEN',
    'DB_PASSWD',
    'authorization',
    'x-auth',
    'Cookie',
    'AWS_CREDENTIALS',
    'GITHUB_PAT',
    'PIN',
    'DB_PASS',
    'OPENAI_KEY',
    'APIKEY',
    'accountKey',
    'x-api-key',
    'oauth2-bearer',
    'creds',
  ])
    t.true(tellsOfSecret(name), name)
  for (const name of [
    'MONKEY',
    'TURKEY',
    'HOTKEY',
    'hot-key',
    'CACHE_KEY',
    'publicKey',
    'primary_key',
    'KEYBOARD',
    'AUTHOR',
    'COMPASS',
    'COMPASS_MODE',
    'NODE_ENV',
    'accept',
  ])
    t.false(tellsOfSecret(name), name)
})

test('names of settings and flags that hold a secret', (t) => {
  for (const name of ['key', 'secrets_key', 'http-admin-token', 'client_secret', 'password'])
    t.true(isSecretSetting(name), name)
  for (const name of ['secrets_key_file', 'monkey', 'max_tokens', 'KEY', 'passphrase', 'session'])
    t.false(isSecretSetting(name), name)
})
