import test from 'ava'
import { parse } from '../../../../core/plugin.js'
import { usageConfig } from '../../../../plugins/operator/usage/config.js'

test('usage-5: a price that could never fit is refused', (t) => {
  const issues = (price: object) => {
    const read = parse(usageConfig, { prices: [{ input: 1, output: 1, ...price }] })
    return read.ok ? [] : read.issues.map(({ path, rule }) => `${path} ${rule}`)
  }
  for (const model of ['a', 'a*', '*', 'org/a:b']) t.deepEqual(issues({ model }), [])
  for (const model of ['a*b', '*b', 'a**'])
    t.deepEqual(issues({ model }), ['prices.0.model must be a name, or its beginning with one star behind it'])
  t.deepEqual(issues({ route: 'fast' }), [])
  t.deepEqual(issues({ route: 'f*' }), ['prices.0.route must be the id of one route, without a star'])
})
