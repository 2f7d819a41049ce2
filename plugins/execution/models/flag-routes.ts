/** The route of the flags, and those beside it whose server makes pictures or writes down speech. */
import { flagWords, type RouteWords } from './file/route-words.js'
import type { RouteConfig } from './route-config.js'
import type { Config } from './file/flags.js'

const flaggedRoute = ({
  provider,
  base_url,
  model,
  api_key,
  api_key_file,
  auth_ref,
  ...more
}: Config): RouteConfig => ({
  route_id: provider,
  provider,
  base_url,
  model,
  api_key,
  api_key_file,
  auth_ref,
  idle_timeout_ms: more.idle_timeout_ms,
  max_concurrent_calls: 0,
  usual_window: more.context_window,
  // A server of one's own may call its models as it likes.
  takesAny: base_url !== undefined,
  abilities: {},
  own_models: {},
  vendor: {},
  vendor_env: {},
  words: flagWords,
})

interface AbilityFlags {
  readonly provider: string | undefined
  readonly base_url: string | undefined
  readonly api_key: string | undefined
  /** That of the ability, such as the one that draws. */
  readonly model: string | undefined
}

const wordsOf = (name: string): RouteWords => ({
  place: `the flags of the daemon that begin with --${name}`,
  provider: (known) => `Start with --${name}-provider and one of: ${known}.`,
  model: `Start with --${name}-base-url and --${name}-model NAME.`,
  family: `Start with --${name}-base-url for a server that has other models.`,
  key: `Start with --${name}-api-key and a key that its server takes.`,
  ability: (_, able) => `Start with --${name}-provider and one of: ${able}.`,
  base_url: `Start with --${name}-base-url, such as http://127.0.0.1:8080/v1.`,
  check: `See that the server runs and that --${name}-base-url, --${name}-model and --${name}-api-key fit it.`,
})

/** What the flags say of the default route holds where its server is the same; its key goes to no other. */
const routeBeside = (
  flagged: RouteConfig,
  route_id: string,
  { provider = flagged.provider, base_url, api_key, model }: AbilityFlags,
): RouteConfig => {
  const isSame = provider === flagged.provider && base_url === undefined
  return {
    ...flagged,
    ...(!(isSame && api_key === undefined) && { api_key, api_key_file: undefined, auth_ref: undefined }),
    ...(!isSame && { base_url, model: base_url && model, takesAny: base_url !== undefined }),
    route_id,
    provider,
    words: wordsOf(route_id),
  }
}

const besides = (flagged: RouteConfig, flags: Config): readonly RouteConfig[] => {
  const image: AbilityFlags = {
    provider: flags.image_provider,
    base_url: flags.image_base_url,
    api_key: flags.image_api_key,
    model: flags.image_model,
  }
  const transcription: AbilityFlags = {
    provider: flags.transcription_provider,
    base_url: flags.transcription_base_url,
    api_key: flags.transcription_api_key,
    model: flags.transcription_model,
  }
  const isGiven = (given: AbilityFlags): boolean => Object.values(given).some((value) => value !== undefined)
  const drawing: RouteConfig = {
    ...routeBeside(flagged, 'image', image),
    abilities: { image_generation: true, image_edit: true },
    own_models: { image: image.model },
  }
  const hearing: RouteConfig = {
    ...routeBeside(flagged, 'transcription', transcription),
    abilities: { transcription: true },
    own_models: { transcription: transcription.model },
  }
  return [...(isGiven(image) ? [drawing] : []), ...(isGiven(transcription) ? [hearing] : [])]
}

/** That of the flags first; the others bear the names of what they do. */
export const flagRoutes = (flags: Config): readonly [RouteConfig, ...RouteConfig[]] => {
  const flagged = flaggedRoute(flags)
  return [flagged, ...besides(flagged, flags)]
}
