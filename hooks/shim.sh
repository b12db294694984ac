#!/bin/sh
# Written by pawl: runs the hook that was here before, as git would have.
# @include where
# @include previous
[ -x "$previous/${0##*/}" ] && exec "$previous/${0##*/}" "$@"
exit 0
