import test from 'ava'
import { isFileHost, readFiles } from '../../../../plugins/connectors/slack/incoming/file-rules.js'
import { settingsOf } from './bench.js'

const url = 'https://files.slack.com/files-pri/T1-F1/a.png'
const file = { id: 'F1', name: 'a.png', mimetype: 'image/png', url, size: 5 }
const grounds = { settings: settingsOf(), isAuthenticated: true, hasToken: true, team_id: 'T1' }

test('slack-17: files are taken of signed events, with a token to read them, eight at most, each with address and name', (t) => {
  const read = (files: readonly object[], more: object = {}) => {
    const found = readFiles(files, { ...grounds, ...more })
    return found.type === 'invalid' ? found.what : found.files
  }
  t.deepEqual(read([file]), [{ url, name: 'a.png', media_type: 'image/png', team_id: 'T1' }])
  t.deepEqual(read([{ id: 'F1', url }], { team_id: undefined }), [{ url, name: 'F1' }])
  t.deepEqual(read([], { isAuthenticated: false, hasToken: false }), [])
  t.is(read([file], { isAuthenticated: false }), 'nothing proves that its files are of Slack')
  t.is(read([file], { hasToken: false }), 'the connector has no bot token to read its files with')
  t.is(read([{ ...file, url: undefined }]), 'one of its files has no address')
  t.is(read([{ url }]), 'one of its files has no name')
  t.is(
    read([file, { ...file, url: 'https://files.example/a' }]),
    'one of its files is at a host that files are not read from',
  )
  t.is(read([{ ...file, size: 12_582_913 }]), 'one of its files is larger than 12582912 bytes')
  t.is((read(Array.from({ length: 8 }, () => file)) as object[]).length, 8)
  t.is(read(Array.from({ length: 9 }, () => file)), 'it has more than 8 files')
})

test('slack-17: without a list files are of Slack over https, or of the host of the API by its own scheme', (t) => {
  const local = settingsOf({ api_base_url: 'http://slack.local:8080/api' })
  const fine = (text: string, settings = settingsOf()) => isFileHost(settings, text)
  for (const host of ['files.slack.com', 'files.slack-edge.com', 'slack-files.com', 'slack.com'])
    t.true(fine(`https://${host}/f`), host)
  for (const text of [
    'http://files.slack.com/f',
    'https://files.slack.com.example/f',
    'https://slack.com@example.com/f',
    'https://user:word@files.slack.com/f',
    'https://files.slack.com:444/f',
    'https://example.com/f',
    'ftp://files.slack.com/f',
    'files.slack.com/f',
    '',
  ])
    t.false(fine(text), text)
  t.true(fine('http://slack.local:8080/f', local))
  t.false(fine('https://slack.local:8080/f', local))
  t.false(fine('http://slack.local/f', local))
})

test('slack-17: a list of hosts stands alone, and over https', (t) => {
  const settings = settingsOf({ allowed_file_hosts: ['files.example', 'other.example:8443'] })
  t.true(isFileHost(settings, 'https://FILES.example/f'))
  t.true(isFileHost(settings, 'https://other.example:8443/f'))
  t.false(isFileHost(settings, 'http://files.example/f'))
  t.false(isFileHost(settings, 'https://files.slack.com/f'))
  t.false(isFileHost(settings, 'https://x.files.example/f'))
})
