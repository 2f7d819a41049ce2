// Its function is async, so that it gives a promise in place of a plugin.
export default async () => ({
  id: 'asynchronous-export',
  version: '1.0.0',
  api: 1,
  summary: 'It is made by an async function.',
  register() {},
})
