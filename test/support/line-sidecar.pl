# A sidecar that was written from docs/sidecars.md alone, in another language and another style: whoever adds a line to
# `lines` sends a message, its answers are added to `answers`. One process serves, another one sends.
use strict; use warnings;
use Fcntl ':flock'; use HTTP::Tiny; use IO::Handle; use IO::Socket::INET; use JSON::PP;

my ($name, $here, $daemon, $token) = map { $ENV{"SERVICE_EXTERNAL_CONNECTOR_$_"} } qw(NAME BASE_URL DAEMON_BASE_URL SHARED_TOKEN);
my ($folder, $instance, $json) = ($ENV{LINES_FOLDER}, "perl-$$-" . time, JSON::PP->new->utf8->canonical);
my $events = "$daemon/v1/connectors/external/$name/events";
my $http = HTTP::Tiny->new(timeout => 30, max_redirect => 0, proxy => undef, http_proxy => undef,
  default_headers => { authorization => "Bearer $token", 'content-type' => 'application/json' });
my $version = 2;

sub content { open(my $in, '<:raw', "$folder/$_[0]") or return ''; local $/; return <$in> // '' }
sub keep { my ($file, $text) = @_;
  open(my $out, '>:raw', "$folder/$file.new") or die $!; print $out $text; $out->flush; $out->sync; close $out;
  rename("$folder/$file.new", "$folder/$file") or die $! }

# The place of a line in the file is its id: it is known before anything is sent, and is the same each time.
sub send_lines { for (my $wait = 0.2;; select(undef, undef, undef, $wait)) {
  my $at = content('at') || 0; my $rest = substr(content('lines'), $at);
  if ($rest !~ /^(.*)\n/) { $wait = 0.2; next }
  my ($line, $next) = ($1, $at + length($1) + 1);
  if ($line =~ /^\s*$/) { keep('at', $next); $wait = 0; next }
  utf8::decode(my $text = $line);
  my $answer = $http->post($events, { content => $json->encode({ protocol_version => $version, instance_id => $instance,
    event_id => "line-$at", thread => { path => ['lines'] }, reply_route => "$at", content => $text, fingerprint => undef }) });
  my $said = $answer->{status} == 200 ? $json->decode($answer->{content}) : { status => 'later' };
  if (($said->{reason} // '') =~ /unsupported protocol_version/) { $version = 1; $wait = 0.1 }
  elsif ($said->{status} =~ /^(accepted|duplicate)$/ || $answer->{status} =~ /^4(00|13)$/) { keep('at', $next); $wait = 0 }
  elsif ($said->{status} eq 'rejected') { keep("refused-$at", $said->{reason} // ''); keep('at', $next); $wait = 0 }
  else { $wait = $answer->{headers}{'retry-after'} || ($wait < 0.5 ? 0.5 : $wait > 30 ? 60 : 2 * $wait) } } }

# The line that is added is answer and note in one: it is there whole, or the next start takes its beginning away.
sub deliver { my ($it) = @_; my $id = $it->{delivery_id};
  open(my $file, '+>>:raw', "$folder/answers") or die $!; flock($file, LOCK_EX);
  my $all = content('answers');
  truncate($file, rindex($all, "\n") + 1) if length $all && substr($all, -1) ne "\n";
  return { status => 'committed' } if $all =~ /^\{[^\n]*"delivery_id":"\Q$id\E"[^\n]*\}\n/m;
  print $file $json->encode({ delivery_id => $id, line => $it->{reply_route}, text => $it->{content} }), "\n";
  $file->flush; $file->sync;
  return { status => 'committed' } }

sub answer_to { my ($head, $body) = @_;
  return (401, { error => 'the shared token is wrong' }) unless $head =~ /^(?i:authorization: bearer) \Q$token\E\r?$/m;
  my %facts = (protocol_version => 1, instance_id => $instance);
  return (200, \%facts) if $head =~ m{^GET /manifest };
  return (200, { %facts, status => 'ready' }) if $head =~ m{^GET /health };
  return (200, deliver($json->decode($body))) if $head =~ m{^POST /deliver };
  return (404, { error => 'there is nothing here' }) }

my $server = IO::Socket::INET->new(LocalAddr => $here =~ s{^http://}{}r, Listen => 64, ReuseAddr => 1) or die "$here: $!";
my $sender = fork // die $!;
if (!$sender) { close $server; send_lines() }
while (1) {
  my $peer = $server->accept or next;
  exit 1 if waitpid($sender, 1) != 0;
  eval { local $SIG{ALRM} = sub { die }; alarm 10;
    my ($head, $body) = ('', ''); while (my $line = <$peer>) { last if $line =~ /^\r?\n$/; $head .= $line }
    read($peer, $body, $1) if $head =~ /^content-length: (\d+)/mi;
    my ($status, $said) = answer_to($head, $body); my $text = $json->encode($said);
    print $peer "HTTP/1.1 $status -\r\ncontent-type: application/json\r\ncontent-length: ", length $text, "\r\nconnection: close\r\n\r\n$text" };
  alarm 0; close $peer }
