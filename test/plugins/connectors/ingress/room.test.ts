/** Who may be worked on; docs/rules/ingress.md. */
import test from 'ava'
import { createRoom } from '../../../../plugins/connectors/ingress/pending/room.js'

test('ingress-13: many connectors whose platforms hang leave half of the room to the others', (t) => {
  let now = 0
  let made = 0
  const room = createRoom({ elapsed: () => now })
  /** How many of a connector can be begun now. */
  const fill = (lane: string): string[] => {
    const ids: string[] = []
    while (room.has(lane)) {
      ids.push(`${lane} ${(made += 1)}`)
      room.begin(ids.at(-1) ?? '', lane)
    }
    return ids
  }
  const hanging = ['a', 'b'].flatMap(fill)
  t.is(hanging.length, 6, 'four of one, two of the other')
  const quick = fill('quick')
  t.is(quick.length, 1, 'there is room for who has none yet')
  for (const id of quick) room.end(id)

  now = 15_000
  for (const id of hanging) room.end(id)
  const slow = Array.from({ length: 20 }, (_, at) => `slow ${at}`)
  for (const lane of slow) {
    const ids = fill(lane)
    now += 6000
    for (const id of ids) room.end(id)
  }
  const again = [...slow, 'a', 'b'].flatMap(fill)
  t.is(again.length, 4, 'one of each, and four of all')
  t.is(fill('quick').length, 2)
  t.is(fill('other').length, 1)
  for (const id of again) room.end(id)
  t.is(fill('slow 1').length, 3, 'one that was quick again is not slow any more')
})
