import test from 'ava'
import { churn } from './churn.js'
import { loadEngine } from './life.js'

test('state-29: a queue whose ids come and go is as it was told, and its pages alone tell the truth', async (t) => {
  await churn(await loadEngine(), 30)
  t.pass()
})
