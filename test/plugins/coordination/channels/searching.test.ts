/** How messages are looked through: in small portions, however large they are. */
import test from 'ava'
import { comparable } from '../../../../core/base/words/comparable.js'
import { sieveOf } from '../../../../plugins/coordination/channels/sieve.js'
import { createSearch } from '../../../../plugins/coordination/channels/searching.js'
import { weightOf } from '../../../../plugins/coordination/channels/record/weight.js'
import type { MessageRecord } from '../../../../plugins/coordination/channels/contract.js'

const messageOf = (message_id: string, content = ''): MessageRecord => ({
  message_id,
  channel_id: 'c',
  root_message_id: message_id,
  sender: { id: 'ann' },
  output: { content, parts: [], artifacts: [] },
  created_at_ms: 1,
})

const lineOf = (content: string): Uint8Array => Buffer.from(JSON.stringify({ r: messageOf('m', content) }))

/** Reading a message takes 5 ms; what others do takes none. */
const stage = (many: number, content: (n: number) => string = () => 'x') => {
  let now = 0
  const log: string[] = []
  const ids = Array.from({ length: many }, (_, n) => String(many - n).padStart(6, '0'))
  const search = createSearch({
    clock: {
      elapsed: () => now,
      sleep: async (ms) => {
        log.push('sleep')
        now += ms
        return true
      },
    },
    ids: ({ before, limit }) => ids.filter((id) => before === undefined || id < before).slice(0, limit),
    message: (id) => {
      now += 5
      log.push(id)
      return messageOf(id, content(Number(id)))
    },
  })
  return { log, search, page: { channel_id: 'c', limit: 1_000 } }
}
const never = new AbortController().signal

test('channels-23: behind each message that is slow to read others are served, also where many search', async (t) => {
  const { log, search, page } = stage(100)
  await Promise.all(Array.from({ length: 3 }, () => search(page, { text: 'none', signal: never })))
  t.is(log.filter((one) => one !== 'sleep').length, 300)
  // The first messages of all searches are read when these begin.
  t.false(log.slice(3).some((one, at, all) => one !== 'sleep' && all[at + 1] !== 'sleep' && at + 1 < all.length))
})

test('channels-21, channels-23: a search ends when it has enough, or when nobody waits for it', async (t) => {
  const enough = stage(1_000, (n) => (n % 10 === 0 ? 'Grün' : ''))
  t.deepEqual(await enough.search({ ...enough.page, limit: 2 }, { text: 'GRÜN', signal: never }), ['001000', '000990'])
  t.true(enough.log.length < 40)
  const gone = stage(1_000)
  const client = new AbortController()
  const searching = gone.search(gone.page, { text: 'none', signal: client.signal })
  client.abort()
  t.deepEqual(await searching, [])
  t.true(gone.log.length < 5)
})

test('channels-21, channels-25: a text is found whatever its case, and however its letters and marks are put together', async (t) => {
  const pairs = [
    ['café', 'The CAFE\u0301 is open'],
    ['cafe\u0301', 'The Café is open'],
    ['istanbul', 'To \u0130stanbul'],
    ['i\u0307stanbul', 'To \u0130stanbul'],
    ['\u0130STANBUL', 'to istanbul'],
    ['việt', 'Vie\u0323\u0302t'],
    ['한', '\u1112\u1161\u11ab'],
    ['οδος', 'ΟΔΟΣ'],
  ] as const
  for (const [text, content] of pairs) {
    const { search, page } = stage(2, (n) => (n === 1 ? content : 'cafe, Viet'))
    t.deepEqual(await search(page, { text, signal: never }), ['000001'], text)
    t.true(sieveOf(text)(lineOf(content)), text)
  }
})

test('channels-21: signs of patterns are found as they stand', async (t) => {
  for (const text of ['a.c', '(x|', '[^a]', '\\d', '$1-{2}', 'x/y*+?']) {
    const { search, page } = stage(2, (n) => (n === 1 ? `so: ${text.toUpperCase()}!` : 'abc 1 b d'))
    t.deepEqual(await search(page, { text, signal: never }), ['000001'], text)
  }
})

test('channels-23: the bytes of a message are let through if it has the text in any case, wherever it stands', (t) => {
  const odd = [
    'k',
    'K',
    '\u212a',
    's',
    '\u017f',
    'ß',
    'ẞ',
    'ς',
    'Σ',
    'é',
    'É',
    'e',
    '\u0301',
    '\u0323',
    'i',
    '\u0130',
    '\u0307',
    '\u1ec7',
    '\u2126',
    'ω',
    '한',
    '\u1112',
    '\u1161',
    '\u11ab',
    '"',
    '\\',
    '\n',
    '\u0001',
    '-',
    '.',
    '語',
  ]
  const signs = [...odd, '😀', '𐐀', '𐐨', '\ud83d', 'x']
  let seed = 1
  const next = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
  const some = (many: number): string => Array.from({ length: many }, () => signs[next(signs.length)]).join('')
  let found = 0
  for (let n = 0; n < 20_000; n += 1) {
    const [text, content] = [some(1 + next(2)), some(next(12))]
    const holds = comparable(content).includes(comparable(text))
    found += holds ? 1 : 0
    if (holds) t.true(sieveOf(text)(lineOf(content)), JSON.stringify([text, content]))
  }
  t.true(found > 300)
  t.false(sieveOf('quay')(lineOf('quite a quiet bay')))
  t.false(sieveOf('éa')(lineOf('ea éb')))
  const [long, sieve] = ['Straße zum Kai'.repeat(14), sieveOf('straße zum kai'.repeat(14))]
  for (let at = 16_384 - 400; at <= 16_384; at += 7) t.true(sieve(lineOf(`${'x'.repeat(at)}${long}`)), `${at}`)
})

test('channels-9: the weight of a message is no less than what it says, for portions of a removal', (t) => {
  t.true(weightOf(messageOf('m', 'x'.repeat(262_144))) >= 262_144)
  t.true(weightOf({ ...messageOf('m'), metadata: {} }) >= 65_536)
})
