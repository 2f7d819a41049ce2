// Its model provider has members that are of another kind than its contract says.
export default ({ definePoint }) => ({
  id: 'odd-provider',
  version: '1.0.0',
  api: 1,
  summary: 'Its model provider has members of another kind.',
  register(ctx) {
    ctx.contribute(definePoint('model-providers@1'), {
      id: 'odd',
      summary: 'Odd.',
      default_model: 'm',
      capabilities: {
        matrix_version: 2,
        multimodal_input: false,
        native_web_search: false,
        image_generation: false,
        image_edit: false,
        audio_generation: false,
        transcription: false,
      },
      family: 7,
      local_servers: 7,
      key_variables: 7,
      connect: () => ({
        readiness: () => ({ state: 'ok', code: 'ready', message: 'It listens.' }),
        async *stream() {},
      }),
    })
  },
})
