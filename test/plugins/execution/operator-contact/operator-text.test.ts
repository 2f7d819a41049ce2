import test from 'ava'
import { unsafeText } from '../../../../plugins/execution/operator-contact/operator-text.js'

const refused: Readonly<Record<string, readonly string[]>> = {
  'an e-mail address': ['robin@example.org', 'Write to Robin <robin@mail.example.org>.'],
  'a URL': [
    'https://example.org',
    'ftp://x',
    'see www.example.org',
    'example.org/path',
    'tell example.com',
    'host.internal:8080',
    '10.0.0.1',
    'mailto:robin',
    'http://[::1]/',
    'ｈｔｔｐｓ://example.org',
  ],
  'webhook details': ['Use the webhook.', 'the web hook', 'https://hooks.slack.com/services/T0/B0/x'],
  'a token': [
    'sk-abcdefgh12345678',
    'xoxb-1-2',
    'ghp_abcdefghijklmnop',
    'AKIAIOSFODNN7EXAMPLE',
    'eyJhbGciOiJIUzI1NiJ9',
    '123456789:AAabcdefghijklmnopqrstuvwxyz',
    'password: swordfish',
    'my token is abc',
    'API key=1',
    'Bearer abcdefgh1',
    'a1b2c3d4e5f6a7b8c9d0e1',
  ],
  'a channel id': ['C024BE91L', 'in <#C024BE91L>', '@robin_w', 'ask in #general', 'channel: 12', 'channel_id=x'],
  'a chat id': ['-1001234567890', '1234567', 'chat id 5', '+49 30 123456'],
  'a control character': ['a\u0000b', 'a\u001bb'],
}

for (const [what, texts] of Object.entries(refused)) {
  test(`${what} is found`, (t) => {
    for (const text of texts) t.is(unsafeText(text), what, text)
  })
}

test('an invisible character hides nothing', (t) => {
  t.is(unsafeText('robin\u200b@exam\u200bple.org'), 'an e-mail address')
})

test('a name and a manner of speaking are let pass', (t) => {
  const fine = [
    'Robin',
    'Dr. Müller-Lüdenscheidt',
    'Night shift (team 4)',
    'Short and friendly, e.g. no jargon. At most 3 sentences.',
    'Answer in German; be formal until 18:00.',
    'Prefers bullet points\nand no emoji',
    '李雷',
    'Ask one thing at a time. Numbers with units: 12.5 kg.',
    'on-call engineer, Q3/Q4',
    'Says "no" 99% of the time',
    'C3PO',
    'customer-success-team-24x7',
  ]
  for (const text of fine) t.is(unsafeText(text), undefined, text)
})
