import test from 'ava'
import { redactSecretsInCode } from '../../../../core/base/text/shape/redact.js'

const code: readonly string[] = [
  'const token = await getToken(id);',
  'def f(token: str, password: str) -> bool:',
  'func Login(password string, token: *Token) error {',
  'Unexpected token: punc (;)',
  'passwd: files systemd',
  'API_KEY = os.environ["API_KEY"]',
  'self.secret = secret',
  'next_page_token: CAUQAA',
  'csrf_token = request.headers.get("X-CSRF-Token")',
  'token: Uint8Array, secret = step2, password = sha256(salt), accessToken = cache2[0]',
  'password: String!',
  'pass = compute_pass(x)',
  '"password": "must have 8 characters"',
  'password: string | null; apiKey: config.apiKey',
  'Authorization: Bearer ${accessToken}',
  'run basic tests/unit/test_1.py',
  'postgres://user:password@localhost/db and https://x:${TOKEN}@host',
  'secret: web-app-v2',
]
for (const text of code)
  test(`hooks-36: code, words and types behind the name of a secret stay: ${text}`, (t) =>
    t.is(redactSecretsInCode(text), text))

const meant: readonly (readonly [text: string, secret: string])[] = [
  ['password: hunter2', 'hunter2'],
  ['password = "Bd!kQz$x"', 'Bd!kQz$x'],
  ['passwd: 48291377', '48291377'],
  ['X_TOKEN=zcomp-33cq', 'zcomp-33cq'],
  ['{"apiKey": "q9Lm2kPz7"}', 'q9Lm2kPz7'],
  ['token: 9f86d081884c7d659a2feaa0c55ad015', '9f86d081884c7d659a2feaa0c55ad015'],
  ['Authorization: Bearer abc123def456', 'abc123def456'],
  ['postgres://app:s3cr3t@db/main', 's3cr3t'],
  ['curl -u admin:walnuts https://x', 'walnuts'],
  ['the access token is 9f8e7d6c5b', '9f8e7d6c5b'],
  ['refused: ghp_abcdefghijklmnop1234', 'ghp_abcdefghijklmnop1234'],
]
for (const [text, secret] of meant)
  test(`hooks-36: what nobody writes but as a secret goes: ${text}`, (t) =>
    t.is(redactSecretsInCode(text), text.replace(secret, '<redacted>')))
