/** How much may wait; docs/rules/ingress.md. */
import test from 'ava'
import { hasRoom, sizeGroup } from '../../../../plugins/connectors/ingress/pending/sizes.js'

const mebibyte = 1_048_576

test('ingress-15: 10,000 events of a connector may wait, or 64 MiB of them, each counted as the next power of two', (t) => {
  const waiting = new Map<string, number>()
  const count = (group: string): number => waiting.get(group) ?? 0
  const add = (bytes: number, lane = 'slack:a'): boolean => {
    if (!hasRoom(count, lane, bytes)) return false
    const group = sizeGroup(lane, bytes)
    waiting.set(group, count(group) + 1)
    return true
  }
  const fill = (bytes: number, lane?: string): number => {
    let added = 0
    while (add(bytes, lane)) added += 1
    waiting.clear()
    return added
  }
  t.is(fill(0), 10_000)
  t.is(fill(4096), 10_000)
  t.is(fill(4097), 8192)
  t.is(fill(mebibyte), 64)
  t.is(fill(mebibyte + 1), 32)
  t.is(fill(64 * mebibyte), 1)
  t.is(fill(1e9), 1, 'one alone always has room')
  for (let at = 0; at < 9999; at += 1) add(at % 2 === 0 ? 0 : 5000)
  t.true(add(1))
  t.false(add(1), 'sizes count together')
  t.true(add(1, 'slack:b'))
})
