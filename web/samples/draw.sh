#!/bin/sh
# Draws the text lines of the "text direction" sample: 48 pixels high, at most 192 wide, every second one upside down.
# Needs ImageMagick 6 or 7 and the DejaVu fonts. The PNG files in text_direction/ were made by this script and are committed,
# because fonts and rasterisers differ from machine to machine and results must not.
set -eu
cd "$(dirname "$0")/text_direction"

if command -v magick >/dev/null 2>&1; then draw="magick"; else draw="convert"; fi

# number  font  points  ink  paper  turn  text
line() {
  $draw -background "$5" -fill "$4" -font "$2" -pointsize "$3" "label:$7" \
    -bordercolor "$5" -border 6x12 -gravity center -crop x48+0+0 +repage -resize '192x48>' \
    -rotate "$6" -alpha off +dither -colors 32 -depth 8 -strip -define png:exclude-chunk=all "line_$1.png"
}

line 0 DejaVu-Sans 26 '#1a1a1a' '#ffffff' 0 'Platform 9'
line 1 DejaVu-Serif 25 '#0b2a6b' '#f4efe2' 180 'open daily'
line 2 DejaVu-Sans-Bold 22 '#ffffff' '#20603c' 0 'Way out 24'
line 3 DejaVu-Sans-Mono 22 '#222222' '#e8e8e8' 180 'no. 40713-B'
line 4 DejaVu-Serif-Bold 26 '#7a1020' '#fff6d8' 0 'Fresh bread'
line 5 DejaVu-Sans-Bold 24 '#ffd23f' '#2b2d42' 180 'Gate A17'
line 6 DejaVu-Serif-Italic 27 '#33261d' '#dcd3c2' 0 'river walk'
line 7 DejaVu-Sans 24 '#004d61' '#d9f0f4' 180 'Room 3.128'
