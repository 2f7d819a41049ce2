/** What to do about a route that cannot be used: that depends on where it is configured. */

export interface RouteWords {
  /** Where it is configured, in words. */
  readonly place: string
  /** These providers are there. */
  provider(known: string): string
  readonly model: string
  readonly family: string
  /** It may be something of these. */
  readonly check: string
}

const retry = 'A call that succeeds ends this warning; holdfast runs retry RUN_ID makes a new run of one that failed.'

export const flagWords: RouteWords = {
  place: 'the flags of the daemon',
  provider: (known) => `Start with --provider and one of: ${known}.`,
  model: 'Start with --model NAME.',
  family: 'Start with --model and a model of the provider, or with --provider-base-url for a server that has others.',
  check: `See that the model server runs and that --provider-base-url, --model and the key fit it. ${retry}`,
}

export const fileWords = (route_id: string): RouteWords => {
  const place = `[routes.${route_id}] of config/routes.toml`
  return {
    place,
    provider: (known) => `Set driver in ${place} to one of: ${known}.`,
    model: `Set default_model in ${place}.`,
    family: `Set default_model in ${place} to a model of the provider, or model_support to "any".`,
    check: `See that the model server runs and that base_url, default_model and the key in ${place} fit it. ${retry}`,
  }
}
