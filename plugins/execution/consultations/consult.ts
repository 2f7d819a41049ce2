/** One question to a model: the route, the budget, the answer, and what it used. */
import { Problem, type Log, type State } from '../../../core/plugin.js'
import type { UsageBooks } from '../../operator/usage/contract.js'
import { checkGeneration, type Generation, type ModelRoute, type Models, type Usage } from '../models/contract.js'
import { sessionErrors, type Sessions } from '../sessions/contract.js'
import type { Consultation, Consulted } from './contract.js'

export interface ConsultParts {
  readonly models: Models
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
    throw sessionErrors.route_not_allowed({ details: { route_id } })
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

/** Hears the answer to its end, which comes soon after an abort. */
const hear = async (asked: Consultation, { route, model, generation }: Chosen, signal: AbortSignal): Promise<Heard> => {
  const tooLong = new AbortController()
  const request = {
    model,
    system: asked.system,
    messages: [{ role: 'user' as const, content: asked.texts.map((text) => ({ type: 'text' as const, text })) }],
    tools: [],
    generation,
  }
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

export const createConsult =
  (parts: ConsultParts) =>
  async (asked: Consultation, signal: AbortSignal): Promise<Consulted> => {
    const { state, log, books } = parts
    const { session_id, run_id } = asked
    try {
      const chosen = choose(parts, asked)
      const refusal = books()?.refusal({ session_id, run_id })
      if (refusal !== undefined) return failed(refusal.slice(0, refusal.indexOf(':')), refusal)
      if (signal.aborted) return failed('aborted', 'It was ended before it was asked.')
      const { consulted, usage } = await hear(asked, chosen, signal)
      const call = { session_id, route: chosen.route.route_id, model: chosen.model, usage }
      if (asked.unbooked !== true) await state.commit((tx) => void books()?.book(tx, call))
      return usage === undefined ? consulted : { ...consulted, usage }
    } catch (error) {
      if (error instanceof Problem) return failed(error.code, error.message)
      log.error('a model could not be consulted', { error })
      return failed('unknown', 'The provider failed in an unexpected way.')
    }
  }
