/** One question to a model: the route, the budget, the answer, and what it used. */
import { Problem, type Clock, type JsonObject, type Log, type State } from '../../../core/plugin.js'
import { refusalParts, type UsageBooks } from '../../operator/usage/contract.js'
import {
  checkGeneration,
  formText,
  mostRepairs,
  repairText,
  structuredAnswer,
  unfitCode,
  type Generation,
  type ModelMessage,
  type ModelRoute,
  type Models,
  type Usage,
} from '../models/contract.js'
import { sessionErrors, type Sessions } from '../sessions/contract.js'
import type { Consultation, ConsultationObserver, Consulted } from './contract.js'

export interface ConsultParts {
  readonly models: Models
  readonly clock: Clock
  readonly observers: () => readonly ConsultationObserver[]
  readonly state: State
  readonly log: Log
  readonly sessions: () => Sessions | undefined
  readonly books: () => UsageBooks | undefined
}

interface Chosen {
  readonly route: ModelRoute
  readonly model: string
  readonly generation: Generation
}

const failed = (code: string, message: string): Consulted => ({ type: 'failed', code, message })

/** Throws the problems of `Models.ready`, of `checkGeneration`, and `route_not_allowed`. */
const choose = ({ models, sessions }: ConsultParts, asked: Consultation): Chosen => {
  const known = sessions()
  const session = asked.session_id === undefined ? undefined : known?.find(asked.session_id)
  const policy = asked.route_id === undefined ? session?.route_policy : undefined
  const route = models.ready(asked.route_id ?? policy?.provider)
  const { route_id } = route
  if (session?.credential_scope !== undefined && known?.mayUseRoute(session, route_id) !== true)
    throw sessionErrors.route_not_allowed({ details: { route_id, session_id: session.session_id } })
  const { model, fallback_model: _, ...generation } = asked.generation ?? {}
  checkGeneration(route, asked.generation ?? {}, 'generation')
  return { route, model: model ?? policy?.generation?.model ?? route.model, generation: given(generation) }
}

/** Without members that are undefined: providers tell absent ones apart. */
const given = (settings: object): Generation =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))

interface Heard {
  readonly consulted: Consulted
  readonly usage?: Usage | undefined
}
/** Whether a call was made, or something was in the way of it. */
interface Called extends Heard {
  readonly asked: boolean
}

interface Call extends Chosen {
  readonly asked: Consultation
  readonly messages: readonly ModelMessage[]
}

const said = (text: string) => ({ type: 'text' as const, text })

const formed = ({ asked, route, generation }: Call): { readonly system: string; readonly generation: Generation } => {
  const { schema, system } = asked
  if (schema === undefined) return { system, generation }
  return route.generation?.includes('response_format.structured_json') === true
    ? { system, generation: { ...generation, response_format: { type: 'structured_json', schema } } }
    : { system: `${system}\n\n${formText(schema)}`, generation }
}

/** Hears the answer to its end, which comes soon after an abort. */
const hear = async (call: Call, signal: AbortSignal): Promise<Heard> => {
  const { asked, route, model, messages } = call
  const tooLong = new AbortController()
  const request = { model, messages, tools: [], ...formed(call) }
  let [text, deltas] = ['', 0]
  for await (const event of route.connection.stream(request, AbortSignal.any([signal, tooLong.signal]))) {
    if (event.type === 'text_delta') deltas += event.text.length
    if (event.type === 'part' && event.part.type === 'text') text += event.part.text
    if (Math.max(deltas, text.length) > asked.most) tooLong.abort()
    if (event.type !== 'done') continue
    const { usage } = event
    if (tooLong.signal.aborted) return { consulted: failed('answer_too_long', 'Its answer is too long.'), usage }
    if (event.outcome === 'failed') return { consulted: failed(event.failure.class, event.failure.message), usage }
    if (event.outcome === 'length')
      return { consulted: failed('truncated', 'Its answer was cut at its length.'), usage }
    return { consulted: { type: 'text', text }, usage }
  }
  return { consulted: failed('truncated', 'Its answer was cut off.') }
}

/** A provider that breaks its contract counts as one that failed. */
const hearSafely = async ({ log }: ConsultParts, call: Call, signal: AbortSignal): Promise<Heard> => {
  try {
    return await hear(call, signal)
  } catch (error) {
    const { route_id, provider } = call.route
    const where = `stream of the model provider ${provider}`
    log.error('a model provider threw, which its contract forbids', { provider: route_id, where, error })
    return { consulted: failed('unknown', 'The provider failed in an unexpected way.') }
  }
}

const tell = ({ observers, clock, log }: ConsultParts, call: Call, { consulted, usage, began }: Told): void => {
  const { purpose, session_id, run_id } = call.asked
  const duration_ms = Math.round(clock.elapsed() - began)
  const what = {
    purpose,
    session_id,
    run_id,
    route_id: call.route.route_id,
    model: call.model,
    usage,
    duration_ms,
    started_at_ms: clock.now() - duration_ms,
    ...(consulted.type === 'failed'
      ? { outcome: 'failed' as const, code: consulted.code }
      : { outcome: 'answered' as const }),
  }
  for (const observer of observers())
    try {
      observer.observe(what)
    } catch (error) {
      log.error('an observer of consultations failed', { observer: observer.name, error })
    }
}
interface Told extends Heard {
  /** Monotonic ms. */
  readonly began: number
}

const refusedBy = (refusal: string): Consulted => {
  const { code, message } = refusalParts(refusal)
  return failed(code, message)
}

/** One call, within the budget, booked and told. */
const callOnce = async (parts: ConsultParts, call: Call, signal: AbortSignal): Promise<Called> => {
  const { state, books, clock } = parts
  const { session_id, run_id, unbooked, purpose } = call.asked
  const refusal = books()?.refusal({ session_id, run_id })
  if (refusal !== undefined) return { consulted: refusedBy(refusal), asked: false }
  if (signal.aborted) return { consulted: failed('aborted', 'It was ended before it was asked.'), asked: false }
  const began = clock.elapsed()
  const heard = await hearSafely(parts, call, signal)
  tell(parts, call, { ...heard, began })
  const used = { session_id, route: call.route.route_id, model: call.model, usage: heard.usage, purpose }
  if (unbooked !== true) await state.commit((tx) => void books()?.book(tx, used))
  return { ...heard, asked: true }
}

const together = (a: Usage | undefined, b: Usage | undefined): Usage | undefined => {
  if (a === undefined || b === undefined) return a ?? b
  const [cached, reasoning, searches] = [
    (a.cached_input_tokens ?? 0) + (b.cached_input_tokens ?? 0),
    (a.reasoning_tokens ?? 0) + (b.reasoning_tokens ?? 0),
    (a.searches ?? 0) + (b.searches ?? 0),
  ]
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    ...(cached > 0 && { cached_input_tokens: cached }),
    ...(reasoning > 0 && { reasoning_tokens: reasoning }),
    ...(searches > 0 && { searches }),
  }
}

/** Asks until the answer fits the schema, a few times. */
const askFitting = async (parts: ConsultParts, first: Call, { schema, signal }: Fitting): Promise<Called> => {
  let call = first
  let usage: Usage | undefined
  for (let repairs = 0; ; repairs += 1) {
    const heard = await callOnce(parts, call, signal)
    usage = together(usage, heard.usage)
    const { consulted } = heard
    const asked = repairs > 0 || heard.asked
    if (consulted.type === 'failed') return { consulted, usage, asked }
    const checked = await structuredAnswer(schema, consulted.text)
    if (checked.fits) return { consulted: { ...consulted, value: checked.value }, usage, asked }
    const message = `Its answer did not come to fit the schema: ${checked.fault}.`
    if (repairs === mostRepairs || !checked.isRepairable) return { consulted: failed(unfitCode, message), usage, asked }
    const [answer, repair] = [said(consulted.text), said(repairText(checked.fault, schema))]
    const more: ModelMessage[] = [
      // Providers refuse an empty text.
      ...(consulted.text === '' ? [] : [{ role: 'assistant' as const, content: [answer] }]),
      { role: 'user', content: [repair] },
    ]
    call = { ...call, messages: [...call.messages, ...more] }
  }
}
interface Fitting {
  readonly schema: JsonObject
  readonly signal: AbortSignal
}

/** A signal that comes after so long, and how to take it back. */
const lateAfter = ({ clock }: ConsultParts, ms: number | undefined) => {
  const late = new AbortController()
  return { late: late.signal, cancel: ms === undefined ? () => {} : clock.after(ms, () => late.abort()) }
}

export const createConsult =
  (parts: ConsultParts) =>
  async (asked: Consultation, signal: AbortSignal): Promise<Consulted> => {
    const { late, cancel } = lateAfter(parts, asked.timeout_ms)
    const either = AbortSignal.any([signal, late])
    try {
      const call = {
        ...choose(parts, asked),
        asked,
        messages: [{ role: 'user' as const, content: asked.texts.map(said) }],
      }
      const { schema } = asked
      const {
        consulted,
        usage,
        asked: wasAsked,
      } = schema === undefined
        ? await callOnce(parts, call, either)
        : await askFitting(parts, call, { schema, signal: either })
      const ended =
        late.aborted && consulted.type === 'failed' ? failed('timeout', 'There was no answer in time.') : consulted
      return {
        ...ended,
        ...(ended.type === 'failed' && wasAsked && { asked: true }),
        ...(usage !== undefined && { usage }),
      }
    } catch (error) {
      if (error instanceof Problem) return failed(error.code, error.message)
      parts.log.error('a model could not be consulted', { error })
      return failed('unknown', 'The provider failed in an unexpected way.')
    } finally {
      cancel()
    }
  }
