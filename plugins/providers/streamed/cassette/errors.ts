import { defineErrors } from '../../../../core/plugin.js'

const recorded = 'Name a file that a daemon wrote which was started with --record-cassette FILE.'

/** What is wrong with a cassette, or with what it is played to. */
export const cassetteErrors = defineErrors({
  cassette_unreadable: {
    status: 400,
    detail: 'The cassette {file} {rule}.',
    action: recorded,
  },
  cassette_version: {
    status: 400,
    detail: 'The cassette {file} is of another version than 1.',
    action: 'Play it with the version of the daemon that recorded it.',
  },
  cassette_invalid: {
    status: 400,
    detail: 'The cassette {file} is none: line {line} {rule}.',
    action: recorded,
  },
  cassette_cut: {
    status: 400,
    detail: 'The cassette {file} is cut off in line {line}.',
    action: 'Record it again, or remove what stands of that line.',
  },
  cassette_over: {
    status: 502,
    detail: 'The cassette has no exchange left: {count} were recorded, and this is one more.',
  },
  cassette_differs: {
    status: 502,
    detail: 'The request is not the recorded one of line {line}: {path} was {recorded} and is {now}.',
  },
  cassette_withheld: {
    status: 502,
    detail: 'The answer of line {line} was not recorded: it had a secret in pieces.',
  },
  cassette_ambiguous: {
    status: 400,
    detail: 'A cassette cannot be recorded and played at once.',
    action: 'Start with --record-cassette or with --play-cassette.',
  },
})
