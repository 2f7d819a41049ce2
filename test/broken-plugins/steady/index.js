// Works, whatever its neighbours do.
export default (kit) => ({
  id: 'steady',
  version: '1.0.0',
  api: 1,
  summary: 'Works, whatever its neighbours do.',
  register(ctx) {
    ctx.routes(
      kit.defineRoute({
        id: 'steady.read',
        method: 'GET',
        path: '/v1/steady',
        summary: 'Answers.',
        access: 'read',
        reply: kit.textReply(),
        handler: () => 'steady',
      }),
    )
  },
})
