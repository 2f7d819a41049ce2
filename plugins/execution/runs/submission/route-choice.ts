/** Which model a run is pinned to (models-2 to models-7). */
import { type JsonObject } from '../../../../core/plugin.js'
import { checkGeneration, type GenerationSettings, type Models } from '../../models/contract.js'
import { sessionErrors, type SessionRecord, type Sessions } from '../../sessions/contract.js'
import type { SubmitInputRequest } from './input.js'

export interface RouteChoice {
  readonly provider: string
  readonly model: string
  readonly fallback_model?: string | undefined
  readonly generation?: JsonObject | undefined
}

/** Where routes are, and who may use them. */
interface RouteSources {
  readonly models: Models
  readonly sessions: Pick<Sessions, 'mayUseRoute'>
}

/**
 * The run's own words come first, then the session's policy, then the default route. Throws the problems of
 * `Models.ready` and `route_not_allowed`.
 */
export const chooseRoute = (
  { models, sessions }: RouteSources,
  session: SessionRecord,
  input: SubmitInputRequest,
): RouteChoice => {
  const policy = session.route_policy
  const route = models.ready(input.provider ?? policy?.provider)
  if (session.credential_scope !== undefined && !sessions.mayUseRoute(session, route.route_id)) {
    throw sessionErrors.route_not_allowed({
      details: { route_id: route.route_id, session_id: session.session_id },
      errors: [{ path: 'body.provider', rule: "must be a route that the session's credential scope allows" }],
    })
  }
  if (policy === undefined && input.generation === undefined) return { provider: route.route_id, model: route.model }
  const generation = mergeGeneration(
    ofRoute(policy?.generation, route.route_id === (policy?.provider ?? models.default_route)),
    input.generation ?? {},
  )
  checkGeneration(route, generation, 'body.generation')
  return {
    provider: route.route_id,
    model: generation.model ?? route.model,
    fallback_model: generation.fallback_model,
    generation: stored(generation),
  }
}

/** Names of models mean something on the route that they were chosen for only. */
const ofRoute = (generation: GenerationSettings | undefined, same: boolean): GenerationSettings => {
  if (same || generation === undefined) return generation ?? {}
  const { model: _, fallback_model: __, ...rest } = generation
  return rest
}

/** Field by field; a field of the run that says what its type says anyway counts as not set. */
export const mergeGeneration = (base: GenerationSettings, over: GenerationSettings): GenerationSettings => ({
  model: over.model ?? base.model,
  fallback_model: over.fallback_model ?? base.fallback_model,
  tool_choice:
    over.tool_choice === undefined || over.tool_choice.type === 'auto'
      ? (base.tool_choice ?? over.tool_choice)
      : over.tool_choice,
  allow_parallel_tool_calls:
    over.allow_parallel_tool_calls === false
      ? false
      : (base.allow_parallel_tool_calls ?? over.allow_parallel_tool_calls),
  max_output_tokens: over.max_output_tokens ?? base.max_output_tokens,
  temperature: over.temperature ?? base.temperature,
  reasoning: mergeReasoning(base.reasoning, over.reasoning),
  response_format: over.response_format?.type === 'structured_json' ? over.response_format : base.response_format,
})

const mergeReasoning = (
  base: GenerationSettings['reasoning'],
  over: GenerationSettings['reasoning'],
): GenerationSettings['reasoning'] => (over === undefined || base === undefined ? (over ?? base) : { ...base, ...over })

/** As the journal keeps it: without what is not set. */
const stored = ({
  model,
  fallback_model,
  tool_choice,
  allow_parallel_tool_calls,
  max_output_tokens,
  temperature,
  reasoning,
  response_format,
}: GenerationSettings): JsonObject | undefined => {
  const kept = {
    ...(model !== undefined && { model }),
    ...(fallback_model !== undefined && { fallback_model }),
    ...(tool_choice !== undefined && { tool_choice }),
    ...(allow_parallel_tool_calls !== undefined && { allow_parallel_tool_calls }),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...(temperature !== undefined && { temperature }),
    ...(reasoning !== undefined && { reasoning: reasoning }),
    ...(response_format !== undefined && { response_format }),
  }
  return Object.keys(kept).length === 0 ? undefined : kept
}
