#!/bin/sh
echo "there is no way to clone yet" > /dev/termination-log
exit 9
