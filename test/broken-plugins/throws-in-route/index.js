// Throws when it is asked.
export default (kit) => ({
  id: 'throws-in-route',
  version: '1.0.0',
  api: 1,
  summary: 'Throws when it is asked.',
  register(ctx) {
    ctx.routes(
      kit.defineRoute({
        id: 'broken.ask',
        method: 'GET',
        path: '/v1/broken',
        summary: 'Throws.',
        access: 'read',
        reply: kit.textReply(),
        handler: () => {
          throw new Error('the handler is broken: /etc/passwd')
        },
      }),
    )
  },
})
