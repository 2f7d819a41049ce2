import test from 'ava'
import { looksSecret, redactPii, redactSecrets, redactSecretsInCode } from '../../../../core/base/text/shape/redact.js'
import { isLinear } from '../../../support/linear.js'

const hostile = [
  'a',
  'password for ',
  'password of a b c d e f ',
  'password: ',
  'mot de passe est ',
  'token is a',
  'login: a / b ',
  'legal winner ',
  'curl -u ',
  'curl -u a:',
  'cookie: a=',
  'pwd=',
  'authorization: Basic ',
  'MTk4NjIyNDgzNDcxOTI1MjQ4.',
  'hooks.slack.com/services/',
  'secret_',
  'hunter2 is the ',
  'hunter2 is the a b ',
  '"hunter2" as the ',
  'password aaaaaa',
  'login a/',
  'PIN 1',
  'password (',
  'password (a) ',
  'password\n',
  'pa$$w0rd -> ',
  'clave es ',
  'creds: a ',
  'aaaaaaaaaaaaaaaa1 as a ',
  'mysql ',
  'mysql -p',
  'redis-cli ',
  '-u a:',
  '-u ',
  'a:bbbbbb1@a.',
  'a:bbbbbb1@1.1.1.',
  '?sig=',
  'GOCSPX-',
  'fm2_',
  'password',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN ',
  'sk-',
  'sk-0',
  '"token":"',
  'token:\'"`',
  'token=\\\\"x',
  '+1 ',
  'a@',
  'a.b@c.',
  'eyJaaaaaaaaaaa.',
  'eyJaaaaaaaa-',
  'SG.aaaaaaaaaaaaaaaaaaaa',
  'DE89 ',
  'AB12',
  '://a:',
  'http://x:',
  'abcdefghijklmnopqrst.uvw+',
  'is ',
  'token is ',
  'bearer          ',
  '1-',
  '123456:',
  '4111 ',
  '(',
  '<redacted',
  ' ',
  '\n',
  ' =',
]

for (const part of hostile) {
  test(`hostile text is read in linear time: ${JSON.stringify(part)}`, (t) => {
    const read = (size: number): void => {
      const text = part.repeat(Math.ceil(size / part.length))
      redactPii(redactSecrets(text))
      redactSecretsInCode(text)
      looksSecret(text)
    }
    t.true(isLinear(read, 300_000))
  })
}
