/** Which tasks would wait for themselves, compared with what a closure of the graph says. */
import test from 'ava'
import { waitsFor } from '../../../../plugins/coordination/projects/work/graph.js'

/** Numbers that look random and are the same in every run. */
const createRandom = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}
const tasks = (count: number): string[] => Array.from({ length: count }, (_, n) => `t${n}`)

/** All pairs, by Warshall's algorithm. */
const closure = (
  ids: readonly string[],
  edges: ReadonlyMap<string, readonly string[]>,
): ((a: string, b: string) => boolean) => {
  const reached = new Map(ids.map((id) => [id, new Set(edges.get(id) ?? [])]))
  for (const middle of ids)
    for (const from of ids)
      if (reached.get(from)?.has(middle) === true)
        for (const to of reached.get(middle) ?? []) reached.get(from)?.add(to)
  return (a, b) => reached.get(a)?.has(b) === true
}

test('projects-15: of random graphs exactly the edges that close a circle are refused', (t) => {
  let refused = 0
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = createRandom(seed)
    const ids = tasks(2 + Math.floor(random() * 12))
    const edges = new Map<string, string[]>()
    for (let n = 0; n < 30; n += 1) {
      const [from = '', to = ''] = [ids[Math.floor(random() * ids.length)], ids[Math.floor(random() * ids.length)]]
      const closes = from === to || closure(ids, edges)(to, from)
      const found = waitsFor(from, [to], (id) => edges.get(id) ?? [])
      t.is(found, closes ? to : undefined, `seed ${seed}, ${from} behind ${to}`)
      if (closes) refused += 1
      else edges.set(from, [...(edges.get(from) ?? []), to])
    }
  }
  t.true(refused > 1_000)
})

test('projects-15: each task is looked at once, however they hang together', (t) => {
  const ids = tasks(2_000)
  let looks = 0
  const all = new Map(ids.map((id, n) => [id, ids.slice(n + 1, n + 101)]))
  const found = waitsFor('new', ids.slice(0, 100), (id) => {
    looks += 1
    return all.get(id) ?? []
  })
  t.is(found, undefined)
  t.is(looks, ids.length)
  t.is(
    waitsFor('t1999', ['t0'], (id) => all.get(id) ?? []),
    't0',
  )
})
