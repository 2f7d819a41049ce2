// Writes to what the daemon gave it, to what it gave the daemon, and to settings.
export default (kit) => ({
  id: 'writes-to-records',
  version: '1.0.0',
  api: 1,
  summary: 'Writes to records that are not its own.',
  needs: { sessions: kit.defineToken('sessions@1') },
  register(ctx, { sessions }) {
    const notes = ctx.state.collection({ name: 'broken_notes', version: 1, id: ({ id }) => id, indexes: {} })
    const writing = {
      given: () => {
        sessions.find('s1').agent_id = 'mine'
      },
      kept: async () => {
        const note = { id: 'a', words: ['one'] }
        await ctx.state.commit((tx) => tx.put(notes, note))
        note.words.push('two')
      },
    }
    ctx.routes(
      ...Object.entries(writing).map(([name, write]) =>
        kit.defineRoute({
          id: `broken.${name}`,
          method: 'POST',
          path: `/v1/broken/${name}`,
          summary: 'Writes.',
          access: 'admin',
          reply: kit.textReply(),
          handler: async () => {
            await write()
            return 'written'
          },
        }),
      ),
    )
  },
})
