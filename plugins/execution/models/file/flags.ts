/** What flags and `config/models.toml` say of routes. */
import { defaulted, doc, integer, object, optional, string, type Infer } from '../../../../core/plugin.js'

/** Of a route beside that of the flags. */
const beside = (does: string) => ({
  provider: doc(
    optional(string({ min: 1, pattern: '^[^\\s/]+$', told: 'must be one word, without blanks and slashes' })),
    `Model provider whose server ${does}; that of the default route when absent. Routes of a file stand in its place.`,
  ),
  base_url: doc(optional(string()), `Where the server that ${does} answers.`),
  api_key: doc(optional(string()), `Key for the server that ${does}; that of the provider when it is the same.`),
  model: doc(
    optional(string({ min: 1, max: 200, pattern: '^\\S+$' })),
    `Model that ${does}; the one that the provider usually has for it when absent.`,
  ),
})
const [image, transcription] = [beside('makes and edits pictures'), beside('writes down speech')]

export const config = object({
  provider: doc(
    defaulted(string({ min: 1, pattern: '^[^\\s/]+$', told: 'must be one word, without blanks and slashes' }), 'demo'),
    'Model provider of the default route; also the route_id.',
  ),
  base_url: doc(optional(string()), 'Where the provider answers, for providers that have no address of their own.'),
  routes_file: doc(
    optional(string({ min: 1, max: 4_096 })),
    'File of model routes that is read in place of config/routes.toml.',
  ),
  default_route: doc(
    optional(string({ min: 1, max: 200 })),
    'Which route of the file of routes is the default one; it beats what the file says.',
  ),
  model: doc(optional(string()), 'Model of the default route; the default model of the provider when absent.'),
  api_key: doc(optional(string()), 'Key for the provider. It beats api_key_file.'),
  api_key_file: doc(optional(string()), 'File that holds the key for the provider.'),
  auth_ref: doc(optional(string()), 'Stored secret that is the key for the provider. It goes with no other key.'),
  context_window: doc(
    defaulted(integer({ min: 1_000, max: 100_000_000 }), 32_000),
    'Tokens that one call may have where neither its route nor its provider says.',
  ),
  idle_timeout_ms: doc(
    defaulted(integer({ min: 100, max: 86_400_000 }), 300_000),
    'Longest silence of a provider, milliseconds.',
  ),
  image_provider: image.provider,
  image_base_url: image.base_url,
  image_api_key: image.api_key,
  image_model: image.model,
  transcription_provider: transcription.provider,
  transcription_base_url: transcription.base_url,
  transcription_api_key: transcription.api_key,
  transcription_model: transcription.model,
})
export type Config = Infer<typeof config>

export const flags = {
  provider: 'provider',
  base_url: 'provider-base-url',
  routes_file: 'routes-file',
  default_route: 'default-route',
  model: 'model',
  api_key: 'api-key',
  api_key_file: 'api-key-file',
  auth_ref: 'auth-ref',
  context_window: 'context-window',
  idle_timeout_ms: 'provider-idle-timeout-ms',
  image_provider: 'image-provider',
  image_base_url: 'image-base-url',
  image_api_key: 'image-api-key',
  image_model: 'image-model',
  transcription_provider: 'transcription-provider',
  transcription_base_url: 'transcription-base-url',
  transcription_api_key: 'transcription-api-key',
  transcription_model: 'transcription-model',
} as const
