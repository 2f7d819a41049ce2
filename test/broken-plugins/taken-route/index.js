// Claims a route that the daemon has.
export default (kit) => ({
  id: 'taken-route',
  version: '1.0.0',
  api: 1,
  summary: 'Claims a route that the daemon has.',
  register(ctx) {
    ctx.routes(
      kit.defineRoute({
        id: 'broken.health',
        method: 'GET',
        path: '/healthz',
        summary: 'Taken.',
        access: 'public',
        reply: kit.textReply(),
        handler: () => 'mine',
      }),
    )
  },
})
