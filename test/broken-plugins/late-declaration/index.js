// Adds a route after its time.
export default (kit) => ({
  id: 'late-declaration',
  version: '1.0.0',
  api: 1,
  summary: 'Adds a route after its time.',
  register(ctx) {
    ctx.onStart(() =>
      ctx.routes(
        kit.defineRoute({
          id: 'late.read',
          method: 'GET',
          path: '/v1/late',
          summary: 'Late.',
          access: 'read',
          reply: kit.textReply(),
          handler: () => 'late',
        }),
      ),
    )
  },
})
