import test from 'ava'
import { shipped } from '../../plugins/index.js'
import { conformPlugin } from '../conform/plugin.js'

for (const { id } of shipped) conformPlugin(test, shipped, id)

test('the shipped list names each plugin once', (t) => {
  const ids = shipped.map(({ id }) => id)
  t.is(new Set(ids).size, ids.length)
})
