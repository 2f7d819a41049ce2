/**
 * How much of the conversation fits into one call (prompt-3, prompt-4). Counted in bytes of what is sent, which are
 * known as the conversation grows: four of them are a token, so that Latin letters count a quarter and others more,
 * until calls of the same route have told what they really are.
 */
import { createCache } from '../../../../core/plugin.js'
import type { ContextWindow, Generation, ModelRequest, ModelRoute, ModelTool, Usage } from '../../models/contract.js'

const bytesPerToken = 4
/** Of the window: an estimate may be wrong by that. */
const margin = 0.05
/** Tokens of an answer where nobody says. */
const usualAnswer = 4_096

/** What the tokens of a call have been to what was reckoned, as far as it is believed. */
const bounds = { least: 0.5, most: 4 }
/** Calls that are far off tell of something else, such as a provider that counts nothing. */
const plausible = { least: 0.1, most: 10 }
/** A short call tells more of what surrounds it than of its text. */
const shortest = 200
/** How much of what was learned stays with each call, and what is known before the first. */
const [memory, before] = [0.9, 2_000]
const [mostRoutes, mostRefused] = [256, 1_024]

interface Learned {
  readonly reckoned: number
  readonly reported: number
}

const nothing: Learned = { reckoned: before, reported: before }

/** What calls have told of the tokens of their models; of this life of the daemon alone. */
export interface Calibration {
  /** Tokens for one that is reckoned. */
  factor(called: Called): number
  /** Takes in what a call of so many bytes has used. */
  learn(called: Called, bytes: number, usage: Usage | undefined): void
  /** So many bytes of a conversation were refused as too long, of which it was reckoned that they fit. */
  refused(called: Called, bytes: number, room: number): void
}

/** A model of a route, and whose conversation it is asked with. */
export interface Called {
  readonly route_id: string
  readonly model: string
  readonly session_id: string
}

export const createCalibration = (): Calibration => {
  const known = createCache<Learned>(mostRoutes)
  /** A refusal has many reasons, such as a proxy's limit: it tells nothing of other conversations. */
  const refusals = createCache<Learned>(mostRefused)
  const routeOf = ({ route_id, model }: Called): string => JSON.stringify([route_id, model])
  const conversationOf = ({ route_id, model, session_id }: Called): string =>
    JSON.stringify([route_id, model, session_id])
  const factor = (called: Called): number => {
    const { reckoned, reported } = refusals.get(conversationOf(called)) ?? known.get(routeOf(called)) ?? nothing
    return Math.min(bounds.most, Math.max(bounds.least, reported / reckoned))
  }
  return {
    factor,
    learn(called, bytes, usage) {
      const reckoned = bytes / bytesPerToken
      const reported = usage?.input_tokens ?? 0
      if (reckoned < shortest || !(reported >= reckoned * plausible.least && reported <= reckoned * plausible.most))
        return
      const grown = (old: Learned): Learned => ({
        reckoned: old.reckoned * memory + reckoned,
        reported: old.reported * memory + reported,
      })
      known.set(routeOf(called), grown(known.get(routeOf(called)) ?? nothing))
      const refused = refusals.get(conversationOf(called))
      if (refused !== undefined) refusals.set(conversationOf(called), grown(refused))
    },
    refused(called, bytes, room) {
      const least = room / (bytes / bytesPerToken)
      if (factor(called) >= least) return
      const reckoned = Math.max(before, bytes / bytesPerToken)
      refusals.set(conversationOf(called), { reckoned, reported: reckoned * least })
    },
  }
}

/** How much room there is. */
export interface Budget {
  /** Bytes of the conversation that fit; below zero if what stands beside it is too much already. */
  readonly bytes: number
  /** Bytes that stand beside it: the system prompt and the tools. */
  readonly beside: number
  /** Tokens of both. */
  readonly room: number
  /** Tokens that so many bytes of the conversation are together with what stands beside it. */
  tokens(bytes: number): number
  /** Nobody has said what the window is. */
  readonly isGuessed: boolean
}

const answerRoom = ({ tokens, answer }: ContextWindow, { max_output_tokens, reasoning }: Generation): number => {
  const wanted =
    max_output_tokens === undefined ? (answer ?? usualAnswer) : max_output_tokens + (reasoning?.budget_tokens ?? 0)
  return Math.min(wanted, tokens / 2)
}

const toolBytes = new WeakMap<ModelTool, number>()
const weighTool = (tool: ModelTool): number => {
  const known = toolBytes.get(tool) ?? Buffer.byteLength(JSON.stringify(tool))
  toolBytes.set(tool, known)
  return known
}

const weighTools = (tools: readonly ModelTool[]): number => tools.reduce((sum, tool) => sum + weighTool(tool), 0)

/** What tools take, before calls have told what a token is. */
export const reckonedTokens = (tools: readonly ModelTool[]): number => weighTools(tools) / bytesPerToken

/** What stands beside the conversation in each call. */
export const besideBytes = ({ system, tools }: Pick<ModelRequest, 'system' | 'tools'>): number =>
  weighTools(tools) + Buffer.byteLength(system)

interface Reckoning {
  readonly calibration: Calibration
  readonly session_id: string
  /** Of the room. */
  readonly share?: number
}

type Bounded = Pick<ModelRoute, 'context' | 'context_window'>

/** Undefined where the route has no bound. */
export const windowFor = ({ context, context_window }: Bounded, model: string): ContextWindow | undefined =>
  context === 'run' ? undefined : context_window?.(model)

/** Undefined where the route has no bound. */
export const budgetOf = (
  route: Bounded & Pick<ModelRoute, 'route_id'>,
  request: Pick<ModelRequest, 'model' | 'system' | 'tools' | 'generation'>,
  { calibration, session_id, share = 1 }: Reckoning,
): Budget | undefined => {
  const { model, generation } = request
  const window = windowFor(route, model)
  if (window === undefined) return undefined
  const factor = calibration.factor({ route_id: route.route_id, model, session_id }) / bytesPerToken
  const beside = besideBytes(request)
  const room = (window.tokens - answerRoom(window, generation)) * (1 - margin) * share
  return {
    bytes: Math.floor(room / factor) - beside,
    beside,
    room,
    tokens: (bytes) => Math.ceil((bytes + beside) * factor),
    isGuessed: window.guessed === true,
  }
}
