/** A way to models: `--provider my_plugin --provider-base-url URL` of the daemon chooses it. */
import type { Kit, Point } from 'holdfast/plugin'
import type { ModelProvider } from 'holdfast/plugins/execution/models'
import { connection } from './model.js'

const ModelProviders: Point<ModelProvider> = { point: 'model-providers@1' }

const provider: ModelProvider = {
  id: 'my_plugin',
  summary: 'Models behind my server.',
  default_model: 'usual',
  capabilities: {
    matrix_version: 2,
    multimodal_input: false,
    native_web_search: false,
    image_generation: false,
    image_edit: false,
    audio_generation: false,
    transcription: false,
  },
  connect: ({ base_url = 'http://127.0.0.1:8080' }) => connection(base_url),
}

export default ({ definePlugin }: Kit) =>
  definePlugin({
    id: 'my-plugin',
    version: '0.1.0',
    api: 1,
    summary: 'Models behind my server.',
    register: (ctx) => void ctx.contribute(ModelProviders, provider),
  })
