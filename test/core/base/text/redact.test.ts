import test from 'ava'
import { looksSecret, redactPii, redactSecrets, redactingSecrets } from '../../../../core/base/text/shape/redact.js'
import { secretProse, secretTexts } from './secret-corpus.js'

/** Made up, and put together here so that no scanner takes this file for a leak. */
const b = (...parts: string[]): string => parts.join('')
const shapes: Readonly<Record<string, string>> = {
  'an OpenAI key': b('sk', '-proj-', 'Ab3dEf6hIj9kLmNoPqRsTuVw'),
  'a plain sk key': b('sk', '-', 'Ab3dEf6hIj9kLmNoPqRsTuVw'),
  'an sk key of letters alone': b('sk', '-', 'abcdefghijklmnopqrstuvwx'),
  'an Anthropic key': b('sk', '-ant-api03-', 'Ab3dEf6hIj9kLm-oPqRsTuVwXyZ012345'),
  'a GitHub token': b('gh', 'p_', 'a1b2c3d4e5f6a7b8c9d0a1b2c3d4e5f6a7b8'),
  'a fine-grained GitHub token': b('github', '_pat_', '11ABCDEFG0abcdefghijklmnop'),
  'an AWS key id': b('AKIA', 'IOSFODNN7EXAMPLE'),
  'a Google key': b('AIza', 'SyA1234567890abcdefghijklmnopqrstuv'),
  'a Slack token': b('xox', 'b-1234567890-abcdefghij'),
  'a Stripe key': b('sk', '_live_', '4eC39HqLyjWDarjtT1zdp7dc'),
  'a Telegram token': b('123456789', ':AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1'),
  'a JSON web token': b('eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P'),
  'an xAI key': b('xai', '-', 'Ab3dEf6hIj9kLmNoPqRsTuVwXyZ012345'),
  'a Groq key': b('gsk', '_', 'Ab3dEf6hIj9kLmNoPqRsTuVwXyZ012345'),
  'a private key': b('-----BEGIN RSA ', 'PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----'),
  'the beginning of a private key': b('-----BEGIN ', 'PRIVATE KEY-----\nMIIEow'),
}
const named: readonly (readonly [text: string, secret: string])[] = [
  ['password: hunter2', 'hunter2'],
  ['my password is correcthorse', 'correcthorse'],
  ['api_key=abcdefgh', 'abcdefgh'],
  ['{"apiKey": "a b c"}', 'a b c'],
  [JSON.stringify({ body: JSON.stringify({ client_secret: 'inner-one' }) }), 'inner-one'],
  ['aws_secret_access_key = wJalrXUtnFEMI', 'wJalrXUtnFEMI'],
  ['Authorization: Bearer abc123def456', 'abc123def456'],
  ['the access token is 9f8e7d6c', '9f8e7d6c'],
  ['X_TOKEN=abc', 'abc'],
  ['postgres://app:s3cr3t@db/main', 's3cr3t'],
  ['dbPassword="it, has blanks"', 'it, has blanks'],
]
/** Prose about secrets that holds none. */
const allowed = [
  'Keep an eye on the token budget of this run.',
  'The token budget: 500 per day.',
  'Pat prefers short answers.',
  'Pat is the owner.',
  'The secretariat opens at nine.',
  'We agreed on an authentication strategy with bearer authentication.',
  'The private roadmap is due in May.',
  'Write to ada@example.com',
  'max_tokens: 500',
  'See https://example.com/a?b=c at 10:30.',
  '{"prompt_tokens":12,"total_tokens":20}',
  'The task-sk-list has many-long-words-in-a-row.',
  'Rename sk-internationalization-of-all-messages.',
]

for (const [title, secret] of Object.entries(shapes)) {
  test(`debug-3: ${title} is found in prose, and nothing of it is left`, (t) => {
    const text = `Use ${secret} for it`
    t.true(looksSecret(text))
    t.false(redactSecrets(text).includes(secret.slice(-6)))
    t.regex(redactSecrets(text), /^Use <redacted>/u)
  })
}

for (const [text, secret] of named) {
  test(`the value is found and the name stays: ${text.replace(secret, '…')}`, (t) => {
    t.true(looksSecret(text))
    const redacted = redactSecrets(text)
    t.is(redacted, text.replace(secret, '<redacted>'))
    t.is(redactSecrets(redacted), redacted, 'redacting again changes nothing')
  })
}

for (const text of allowed) {
  test(`is no secret: ${text}`, (t) => {
    t.is(redactSecrets(text), text)
    t.false(looksSecret(text))
  })
}

test('debug-3, learnings-28: each text of the corpus is told apart: a secret, or prose about secrets', (t) => {
  t.deepEqual(
    secretTexts.filter((text) => !looksSecret(text)),
    [],
  )
  t.deepEqual(secretProse.filter(looksSecret), [])
})

test('personal data is named in its place', (t) => {
  t.is(
    redactPii('Ada <ada.l+x@mail.example.org>, +44 20 7946 0958 or (555) 123-4567'),
    'Ada <<email>>, <phone> or <phone>',
  )
  t.is(
    redactPii('card 4111 1111 1111 1111, ssn 078-05-1120, DE89 3704 0044 0532 0130 00'),
    'card <card>, ssn <social_security_number>, <iban>',
  )
})

test('times, ids, versions and numbers are no personal data', (t) => {
  for (const text of [
    '1700000000000',
    '2026-11-21T05:43:01.123Z',
    'run_01890a5d-ac96-774b-bcce-b302099a8057',
    '4111 1111 1111 1112',
    'v1.22.333-4444',
    '127.0.0.1:4000',
    'a+b',
    '3.14159265358979323846',
  ])
    t.is(redactPii(text), text)
})

test('a text of any length is redacted in portions, and what stands between two of them too', (t) => {
  const closed = Object.entries(shapes)
    .filter(([title]) => !title.startsWith('the beginning'))
    .map(([, shape]) => shape)
  const secrets = [...closed, ...named.map(([text]) => text), b('sk', '-', 'aB3'.repeat(30_000))]
  const text = (gap: number): string => secrets.map((secret) => `${'filler, '.repeat(gap)}${secret}\n`).join('')
  for (const gap of [8_100, 8_150, 8_188, 8_191, 16_000]) {
    const whole = text(gap)
    const short = secrets.map((secret) => `${'filler, '.repeat(gap)}${redactSecrets(secret)}\n`).join('')
    const work = redactingSecrets(whole)
    let portions = 0
    let step = work.next()
    for (; step.done !== true; step = work.next()) portions += 1
    t.true(portions > 10)
    t.is(step.value.replaceAll('filler, ', ''), short.replaceAll('filler, ', ''))
  }
})
