/** What every reply plugin must keep. Its own test calls `checkReply` and then tests what is special to it. */
import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import type {
  DeliveryOutcome,
  Envelope,
  ReplyPlugin,
  ReplyTargetRequest,
} from '../../plugins/execution/deliveries/contract.js'

export interface ReplyCase {
  readonly reply: ReplyPlugin
  /** Requested targets that are this plugin's, with the address that each becomes. */
  readonly requests: readonly (readonly [ReplyTargetRequest, string])[]
  /** An address that takes deliveries. */
  readonly good: string
  /** An address whose other end never answers. */
  readonly silent: string
  /** Addresses that are refused before anything is sent. */
  readonly refused: readonly string[]
  /** Texts in these addresses that must never be told. */
  readonly secrets: readonly string[]
  /** The idempotency keys that arrived at the good address, in order; absent where the platform takes none. */
  readonly arrived?: () => readonly string[]
}

/** One request of each form. */
const everyForm: readonly ReplyTargetRequest[] = [
  { type: 'raw', plugin: 'nobody', address: 'nowhere' },
  { type: 'external', connector: 'c', route: 'r' },
  { type: 'telegram', connector: 'c', chat_id: 1 },
  { type: 'slack', connector: 'c', channel_id: 'C1' },
  { type: 'http', url: 'https://reply.example/' },
]

const envelopeOf = (address: string, more: Partial<Envelope> = {}): Envelope => ({
  delivery_id: 'delivery_1',
  attempt: 1,
  session_id: 's1',
  thread_id: null,
  address,
  content: 'hello',
  parts: [{ type: 'text', text: 'hello' }],
  artifacts: [],
  metadata: { delivery_id: 'delivery_1', delivery_attempt: 1 },
  ...more,
})

const checkAddresses = (t: ExecutionContext, { reply, requests, good, refused }: ReplyCase): void => {
  t.regex(reply.plugin, /^[a-z][a-z0-9-]*$/u)
  for (const [request, address] of requests) {
    t.is(reply.address(request), address, 'a requested target becomes its stored form')
    t.is(reply.refuse(address), undefined)
  }
  const own = new Set(requests.map(([{ type }]) => type))
  for (const request of everyForm)
    if (!own.has(request.type)) t.is(reply.address(request), undefined, `${request.type} belongs to another plugin`)
  t.is(reply.refuse(good), undefined)
  const kept = reply.keep?.(good) ?? good
  t.is(reply.keep?.(good) ?? good, kept, 'equal targets are stored in equal forms')
  t.is(reply.keep?.(kept) ?? kept, kept, 'a stored form is given back')
  t.is(reply.refuse(kept), undefined)
  t.is(reply.target(kept), reply.target(good))
  for (const address of refused) t.is(typeof reply.refuse(address), 'string', address)
}

/** Whatever the address: no throw, and nothing of it is told. */
const checkTellsNothing = (t: ExecutionContext, { reply, good, silent, secrets }: ReplyCase): void => {
  for (const address of [good, silent])
    for (const secret of secrets)
      t.false(reply.target(address).includes(secret), 'the name of a target tells no secret')
  const mark = 'sesame-7731'
  const hostile = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.webUrl(),
    fc
      .record({ url: fc.webUrl(), headers: fc.dictionary(fc.string(), fc.string()) })
      .map((value) => JSON.stringify(value)),
  )
  fc.assert(
    fc.property(hostile, (text) => {
      const address = `${text}${mark}`
      const reason = reply.refuse(address)
      return (
        typeof reply.target(address) === 'string' &&
        (reason === undefined || (!reason.includes(mark) && reason.length > 0 && reason.length < 300))
      )
    }),
    { numRuns: 300 },
  )
}

const checkOutcome = (t: ExecutionContext, outcome: DeliveryOutcome, secrets: readonly string[]): void => {
  if (outcome.type === 'delivered') return
  t.regex(outcome.code, /^[a-z][a-z0-9_]{0,99}$/u, 'a code is stable and safe to show')
  for (const secret of secrets) t.false(outcome.code.includes(secret))
}

const checkDelivers = async (t: ExecutionContext, { reply, good, arrived }: ReplyCase): Promise<void> => {
  const { signal } = new AbortController()
  for (const attempt of [1, 2])
    t.deepEqual(
      await reply.deliver(
        envelopeOf(good, { attempt, metadata: { delivery_id: 'delivery_1', delivery_attempt: attempt } }),
        signal,
      ),
      { type: 'delivered' },
    )
  t.deepEqual(
    await reply.deliver(
      envelopeOf(good, { delivery_id: 'delivery_2', metadata: { delivery_id: 'delivery_2', delivery_attempt: 1 } }),
      signal,
    ),
    { type: 'delivered' },
  )
  if (arrived === undefined) return
  const [first, second, third] = arrived()
  t.is(first, second, 'a repetition carries the same key')
  t.not(first, third, 'another delivery carries another key')
}

const checkNeverThrows = async (t: ExecutionContext, { reply, refused, silent, secrets }: ReplyCase): Promise<void> => {
  for (const address of [...refused, '', '{', '\0']) {
    const outcome = await reply.deliver(envelopeOf(address), new AbortController().signal)
    t.not(outcome.type, 'delivered', address)
    checkOutcome(t, outcome, secrets)
  }
  const controller = new AbortController()
  const began = performance.now()
  setTimeout(() => controller.abort(), 100)
  const outcome = await reply.deliver(envelopeOf(silent, { delivery_id: 'delivery_3' }), controller.signal)
  t.is(outcome.type, 'retry')
  checkOutcome(t, outcome, secrets)
  t.not((await reply.deliver(envelopeOf(silent, { delivery_id: 'delivery_4' }), AbortSignal.abort())).type, 'delivered')
  t.true(performance.now() - began < 10_000, 'it ends soon after the abort')
}

export const checkReply = async (t: ExecutionContext, tested: ReplyCase): Promise<void> => {
  checkAddresses(t, tested)
  checkTellsNothing(t, tested)
  await checkDelivers(t, tested)
  await checkNeverThrows(t, tested)
}
