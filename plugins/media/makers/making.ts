/** One call of a tool that makes something: asked once, stored as assets, booked, and told. */
import { Problem, redactedTo, type Json, type JsonObject } from '../../../core/plugin.js'
import type { Runs } from '../../execution/runs/contract.js'
import { callFailure, type ToolCall, type ToolOutcome } from '../../execution/tools/contract.js'
import type { ToolUse, UsageBooks } from '../../operator/usage/contract.js'
import type { Asset, Assets, MadeOf } from '../assets/contract.js'
import { chooseRoute, type ChoiceParts, type Chosen, type Making } from './choice.js'
import type { Made, MediaServer } from './wishes.js'
import { makerErrors } from './errors.js'
import { createServer, type ServerParts } from './server.js'

export interface MakingParts extends ServerParts, ChoiceParts {
  readonly assets: Assets
  readonly runs: () => Runs | undefined
  readonly books: () => UsageBooks | undefined
  /** Aborts when the plugin stops. */
  readonly stop: AbortSignal
}

/** What is wished of whom; `make` is only called when its maker has the capability. */
export interface MakingWish {
  readonly making: Making
  readonly provider: string | undefined
  readonly model: string | undefined
  readonly made_of?: MadeOf | undefined
  readonly make: (chosen: Chosen, server: MediaServer) => Promise<Made>
  /** The model of the capability where nobody names one. */
  readonly usual: (chosen: Chosen) => string | undefined
  /** Of the n-th file, from 1; undefined for bytes that are nothing it could be. */
  readonly fileOf: (
    bytes: Uint8Array,
    n: number,
  ) => { readonly file_name: string; readonly media_type: string } | undefined
}

const mostWords = 4_000

const shown = ({ asset_id, media_type, file_name, sha256, byte_length }: Asset): JsonObject => ({
  asset_id,
  media_type,
  file_name,
  sha256,
  byte_length,
})

const keep = async ({ assets }: MakingParts, { fileOf, made_of }: MakingWish, { files }: Made): Promise<Asset[]> => {
  const kept: Asset[] = []
  for (const [at, bytes] of files.entries()) {
    const file = fileOf(bytes, at + 1)
    if (file === undefined)
      throw makerErrors.media_answer_unusable({ details: { reason: 'a picture of it is neither PNG nor JPEG' } })
    kept.push(await assets.add({ ...file, bytes, made_of }))
  }
  return kept
}

const withinBudget = ({ books, runs }: MakingParts, { session_id, run_id }: ToolCall): void => {
  const reason = books()?.refusal({ session_id, run_id, usage: runs()?.find(run_id)?.usage })
  if (reason !== undefined) throw makerErrors.media_over_budget({ details: { reason } })
}

const isUnknown = ({ code }: Problem): boolean => code === makerErrors.media_outcome_unknown.code

/** Throws as `chooseRoute`. */
export const chosenFor = (
  parts: MakingParts,
  { making, provider }: Pick<MakingWish, 'making' | 'provider'>,
  { session_id, run_id }: Pick<ToolCall, 'session_id' | 'run_id'>,
): Chosen => chooseRoute(parts, making, { session_id, own: parts.runs()?.find(run_id)?.provider, provider })

/** What a check throws, for people who would be asked about such a call in vain. */
export const problemOf = (check: () => unknown): Problem | undefined => {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/** Ends with a problem for whatever its server did wrong. */
export const makeMedia = async (parts: MakingParts, wish: MakingWish, call: ToolCall): Promise<ToolOutcome> => {
  const { making } = wish
  const chosen = chosenFor(parts, wish, call)
  withinBudget(parts, call)
  parts.assets.checkRoom()
  const { route, maker } = chosen
  const reach = route.reach?.()
  if (reach === undefined) throw makerErrors.media_unavailable({ details: { capability: making } })
  const model = wish.model ?? wish.usual(chosen) ?? route.model
  const server = createServer(parts, { maker, reach, model, signal: AbortSignal.any([call.signal, parts.stop]) })
  // What was sent is booked, whatever came of it.
  let used: ToolUse = { route: route.route_id, model }
  try {
    const made = await wish.make(chosen, server)
    used = { ...used, ...(made.usage && { usage: made.usage }) }
    const assets = await keep(parts, wish, made)
    const words = made.revised_prompt && redactedTo(made.revised_prompt, mostWords, parts.redact)
    const output: Json = {
      provider: route.provider,
      model,
      route_id: route.route_id,
      assets: assets.map(shown),
      ...(words !== undefined && words !== '' && { revised_prompt: words }),
    }
    return { type: 'result', output, files: assets, used }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (!isUnknown(error)) return { type: 'result', is_error: true, output: callFailure(error), used }
    return { type: 'unknown', problem: error, used }
  }
}
