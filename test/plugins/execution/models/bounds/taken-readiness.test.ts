import test from 'ava'
import { takenReadiness } from '../../../../../plugins/execution/models/bounds/taken-readiness.js'

test('models-80: a code of a provider of others that holds a secret is no code, and is told nowhere', (t) => {
  const broken: string[] = []
  let code = 'no_s3cret'
  const ask = takenReadiness(
    { readiness: () => ({ state: 'error', code, message: 'It sleeps.' }) },
    {
      provider: 'test',
      plugin: 'test',
      isOfOthers: true,
      redact: (text) => text.replaceAll('s3cret', '[redacted]'),
      broke: (wrong) => void broken.push(String(wrong)),
    },
  )
  t.like(ask(), { state: 'error', code: 'provider_fault' })
  t.like(broken, { length: 1, 0: 'Error: what it returned is wrong: code holds a secret' })
  code = 'asleep'
  t.is(ask().code, 'asleep')
})
