import test from 'ava'
import { checkPlugin } from '../../core/testing/contract.js'
import { shipped } from '../../plugins/index.js'

for (const { id, load } of shipped)
  test.serial(`${id} keeps what a plugin must keep`, async (t) => {
    const results = await checkPlugin((await load()).default)
    t.deepEqual(
      results.filter(({ outcome }) => outcome !== 'passed'),
      [],
    )
    t.is(results.length, 8)
  })

test('the shipped list names each plugin once', (t) => {
  const ids = shipped.map(({ id }) => id)
  t.is(new Set(ids).size, ids.length)
})
